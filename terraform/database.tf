resource "oci_database_autonomous_database" "rag" {
  count = var.create_database ? 1 : 0

  compartment_id          = var.compartment_ocid
  db_name                 = var.database_name
  display_name            = var.database_name
  admin_password          = var.database_admin_password
  db_workload             = "OLTP"
  db_version              = var.database_version
  is_free_tier            = true
  is_auto_scaling_enabled = false              # the default is true, which Always Free refuses
  license_model           = "LICENSE_INCLUDED" # the default is to bring one's own
  whitelisted_ips         = length(var.database_allowed_addresses) > 0 ? var.database_allowed_addresses : null
  freeform_tags           = var.tags

  # The wallet works with and without this; to do without it takes a list of addresses first.
  is_mtls_connection_required = true

  lifecycle {
    precondition {
      condition     = var.database_admin_password != null && var.wallet_password != null
      error_message = "create_database needs database_admin_password and wallet_password."
    }
    # A password that was changed in the database since must not be put back; nor a version that Oracle raised.
    ignore_changes = [admin_password, db_version]
  }
}

resource "oci_database_autonomous_database_wallet" "rag" {
  count = var.create_database ? 1 : 0

  autonomous_database_id = oci_database_autonomous_database.rag[0].id
  password               = var.wallet_password
  generate_type          = "SINGLE"
  base64_encode_content  = true # a zip would be broken by the state, which holds text
}

resource "local_sensitive_file" "wallet" {
  count = var.create_database ? 1 : 0

  content_base64       = oci_database_autonomous_database_wallet.rag[0].content
  filename             = coalesce(var.wallet_file, "${path.module}/.cache/wallet.zip")
  file_permission      = "0600"
  directory_permission = "0700"
}
