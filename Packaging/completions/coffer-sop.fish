# SPDX-License-Identifier: Apache-2.0
complete -c coffer-sop -n __fish_use_subcommand -f -a 'armor certify-userid change-key-password dearmor decrypt encrypt extract-cert generate-key inline-detach inline-sign inline-verify list-profiles merge-certs revoke-key sign update-key validate-userid verify version help'
