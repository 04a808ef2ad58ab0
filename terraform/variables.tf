variable "region" {
  description = "Region of the bucket and of the database, such as eu-frankfurt-1; it is part of the model's URL."
  type        = string

  validation {
    condition     = can(regex("^[a-z]{2,4}-[a-z]+-[0-9]+$", var.region))
    error_message = "region is the identifier of a region, such as eu-frankfurt-1."
  }
}

variable "compartment_ocid" {
  description = "Compartment (or tenancy) in which a bucket and a database are made."
  type        = string

  validation {
    condition     = can(regex("^ocid1\\.(compartment|tenancy)\\.", var.compartment_ocid))
    error_message = "compartment_ocid begins with ocid1.compartment. or ocid1.tenancy."
  }
}

variable "object_storage_domain" {
  description = "Domain of Object Storage; only dedicated realms have another."
  type        = string
  default     = "oraclecloud.com"

  validation {
    condition     = can(regex("^[a-z0-9-]+(\\.[a-z0-9-]+)+$", var.object_storage_domain))
    error_message = "object_storage_domain is a domain without https:// and without a path."
  }
}

variable "bucket_name" {
  description = "Bucket that holds the model."
  type        = string

  validation {
    condition     = can(regex("^[A-Za-z0-9._-]{1,256}$", var.bucket_name))
    error_message = "bucket_name has letters, digits, hyphens, underscores and full stops, 256 at the most."
  }
}

variable "create_bucket" {
  description = "Whether the bucket is made here (true) or is there already (false)."
  type        = bool
  default     = false
}

variable "model_bundle_url" {
  description = "Where Oracle's augmented bundle is downloaded: https://, or file:// for one that was downloaded before. It may carry a token."
  type        = string
  sensitive   = true

  validation {
    condition     = can(regex("^(https|file)://[^[:space:]]+$", var.model_bundle_url))
    error_message = "model_bundle_url begins with https:// or file:// and has no blanks."
  }
}

variable "model_bundle_sha256" {
  description = "SHA-256 that the downloaded bundle must have; another bundle is refused, and a new value uploads a new model."
  type        = string

  validation {
    condition     = can(regex("^[0-9a-f]{64}$", var.model_bundle_sha256))
    error_message = "model_bundle_sha256 is 64 hexadecimal digits in lower case: sha256sum FILE prints it."
  }
}

variable "model_file_name" {
  description = "Name of the ONNX file inside the bundle."
  type        = string
  default     = "all_MiniLM_L12_v2.onnx"

  validation {
    condition     = can(regex("^[A-Za-z0-9_][A-Za-z0-9._-]*\\.onnx$", var.model_file_name))
    error_message = "model_file_name is a plain file name that ends with .onnx."
  }
}

variable "par_days" {
  description = "Days for which the pre-authenticated request of the model is valid."
  type        = number
  default     = 365

  validation {
    condition     = var.par_days >= 1 && var.par_days <= 365 && floor(var.par_days) == var.par_days
    error_message = "par_days is a whole number of days, one year (365) at the most."
  }
}

variable "par_serial" {
  description = "Any number; another one issues a new pre-authenticated request and takes the old one back."
  type        = number
  default     = 1
}

variable "create_database" {
  description = "Whether an Always Free Autonomous Database is made."
  type        = bool
  default     = false
}

variable "database_name" {
  description = "Name of that database, unique in the tenancy."
  type        = string
  default     = "ORACLERAG"

  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9]{0,29}$", var.database_name))
    error_message = "database_name is a letter, then letters and digits, 30 at the most."
  }
}

variable "database_version" {
  description = "Version of that database."
  type        = string
  default     = "26ai"

  validation {
    condition     = contains(["23ai", "26ai"], var.database_version)
    error_message = "database_version is 26ai or 23ai: earlier ones have no vectors."
  }
}

variable "database_admin_password" {
  description = "Password of ADMIN, needed with create_database; it is kept in the state. Give it as TF_VAR_database_admin_password."
  type        = string
  default     = null
  sensitive   = true

  validation {
    condition = var.database_admin_password == null ? true : (
      length(var.database_admin_password) >= 12 && length(var.database_admin_password) <= 30
      && can(regex("[A-Z]", var.database_admin_password)) && can(regex("[a-z]", var.database_admin_password))
      && can(regex("[0-9]", var.database_admin_password)) && !strcontains(var.database_admin_password, "\"")
      && !strcontains(lower(var.database_admin_password), "admin")
    )
    error_message = "database_admin_password has 12 to 30 characters, among them capitals, small letters and digits, and neither a double quote nor admin."
  }
}

variable "database_allowed_addresses" {
  description = "IP addresses or CIDR blocks from which that database may be reached; empty: from everywhere, with the wallet."
  type        = list(string)
  default     = []

  validation {
    condition     = alltrue([for address in var.database_allowed_addresses : can(regex("^[0-9]{1,3}(\\.[0-9]{1,3}){3}(/[0-9]{1,2})?$", address))])
    error_message = "database_allowed_addresses holds IPv4 addresses or CIDR blocks, such as 203.0.113.0/24."
  }
}

variable "wallet_password" {
  description = "Password of the wallet's keys, needed with create_database; it is kept in the state. Give it as TF_VAR_wallet_password."
  type        = string
  default     = null
  sensitive   = true

  validation {
    condition = var.wallet_password == null ? true : (
      length(var.wallet_password) >= 8 && can(regex("[A-Za-z]", var.wallet_password))
      && can(regex("[^A-Za-z]", var.wallet_password))
    )
    error_message = "wallet_password has at least 8 characters, among them a letter and a digit or a special character."
  }
}

variable "wallet_file" {
  description = "Where the wallet is written, a zip; readable by its owner alone. Default: .cache/wallet.zip beside these files."
  type        = string
  default     = null
}

variable "tags" {
  description = "Free-form tags of the bucket and the database."
  type        = map(string)
  default     = {}
}
