terraform {
  required_version = ">= 1.9"

  required_providers {
    oci = {
      source  = "oracle/oci"
      version = "~> 8.0"
    }
    external = {
      source  = "hashicorp/external"
      version = "~> 2.3"
    }
    local = {
      source  = "hashicorp/local"
      version = "~> 2.5"
    }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.12"
    }
  }

  # The state holds secrets (README.md): keep it in an encrypted backend with few readers, never in the repository.
  # Terraform 1.12 and newer have one for Object Storage, older ones use its S3 interface.
}

# Who calls is said by ~/.oci/config or by the environment of the provider, and by nothing in these files.
provider "oci" {
  region = var.region
}
