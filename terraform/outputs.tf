output "minilm_onnx_par_url" {
  description = "URL from which the database reads the model. Who has it can read the object: it is a secret."
  value       = "https://objectstorage.${var.region}.${var.object_storage_domain}${oci_objectstorage_preauthrequest.model.access_uri}"
  sensitive   = true
}

output "minilm_onnx_par_expires_at" {
  description = "Until when that URL works, RFC 3339; raise par_serial before."
  value       = oci_objectstorage_preauthrequest.model.time_expires
}

output "minilm_onnx_sha256" {
  description = "SHA-256 of the ONNX file, with which it is named in the database."
  value       = data.external.model.result.sha256
}

output "minilm_onnx_path" {
  description = "The ONNX file on this machine."
  value       = data.external.model.result.path
}

output "model_object" {
  description = "The object that holds the model."
  value       = "${oci_objectstorage_object.model.bucket}/${oci_objectstorage_object.model.object}"
}

output "database_id" {
  description = "The Autonomous Database; null where none was made."
  value       = one(oci_database_autonomous_database.rag[*].id)
}

output "database_service" {
  description = "ORACLE_DSN of that database for workers, a name in the wallet's tnsnames.ora; null where none was made."
  value       = var.create_database ? "${lower(var.database_name)}_tp" : null
}

output "wallet_file" {
  description = "The wallet's zip; null where no database was made."
  value       = one(local_sensitive_file.wallet[*].filename)
}
