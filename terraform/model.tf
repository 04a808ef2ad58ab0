# The bundle is downloaded once per machine, held against its SHA-256, and unpacked into .cache; a plan that finds the
# file there fetches nothing. It is a data source because the provider wants to see the file while it plans.
data "external" "model" {
  program = ["bash", "${path.module}/fetch_model.sh"]

  query = {
    url    = var.model_bundle_url
    sha256 = var.model_bundle_sha256
    file   = var.model_file_name
    folder = "${abspath(path.module)}/.cache"
  }
}

data "oci_objectstorage_namespace" "tenancy" {
  compartment_id = var.compartment_ocid
}

resource "oci_objectstorage_bucket" "models" {
  count = var.create_bucket ? 1 : 0

  compartment_id = var.compartment_ocid
  namespace      = data.oci_objectstorage_namespace.tenancy.namespace
  name           = var.bucket_name
  access_type    = "NoPublicAccess"
  freeform_tags  = var.tags
}

resource "oci_objectstorage_object" "model" {
  namespace    = data.oci_objectstorage_namespace.tenancy.namespace
  bucket       = var.create_bucket ? oci_objectstorage_bucket.models[0].name : var.bucket_name
  object       = "oraclerag/${substr(var.model_bundle_sha256, 0, 8)}/${var.model_file_name}"
  source       = data.external.model.result.path # content = file(…) could not hold a binary file
  content_type = "application/octet-stream"

  lifecycle {
    create_before_destroy = true
    # The provider compares the time at which the file was written, which is another on each machine. Another bundle
    # has another name.
    ignore_changes = [source]
  }
}
