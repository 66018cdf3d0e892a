# SPDX-License-Identifier: Apache-2.0
_coffer_sop() {
  local word=${COMP_WORDS[COMP_CWORD]}
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'armor certify-userid change-key-password dearmor decrypt encrypt extract-cert generate-key inline-detach inline-sign inline-verify list-profiles merge-certs revoke-key sign update-key validate-userid verify version help' -- "$word")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -o filenames -F _coffer_sop coffer-sop
