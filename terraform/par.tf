# The moment of the first apply stays in the state, so that the end does not move with every plan: every argument of a
# pre-authenticated request makes a new one, with a new URL.
resource "time_offset" "par_end" {
  offset_days = var.par_days

  triggers = {
    serial = var.par_serial
    object = oci_objectstorage_object.model.object
  }
}

# Reads this one object and lists nothing.
resource "oci_objectstorage_preauthrequest" "model" {
  namespace    = data.oci_objectstorage_namespace.tenancy.namespace
  bucket       = oci_objectstorage_object.model.bucket
  name         = "oraclerag-model-${substr(var.model_bundle_sha256, 0, 8)}-${var.par_serial}"
  access_type  = "ObjectRead"
  object_name  = oci_objectstorage_object.model.object
  time_expires = time_offset.par_end.rfc3339

  lifecycle {
    create_before_destroy = true
  }
}
