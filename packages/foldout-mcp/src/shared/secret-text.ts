export const HIDDEN = '***'
/** Names of options and parameters whose values are secret. */
export const SECRET_NAME = /(?:key|token|secret|password|passwd|pwd|auth|credential|bearer|cookie|session)/i
/** Values that are secret under any name: tokens of well-known services, and long values without structure. */
export const SECRET_VALUE =
  /^(?:sk|pk|rk|gh[a-z]|github_pat|glpat|xox[a-z]|shpat|npm|pypi|hf|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{12,}$|^[A-Za-z0-9+=_-]{40,}$/
/** A reference to a variable, which is not secret itself. */
export const VARIABLE = /^(?:Bearer )?\$\{[^{}]*\}$/

/** A URL without its password and the values in its query. */
export function hideInUrl(text: string): string {
  if (!/^[a-z][a-z0-9+.-]*:\/\//i.test(text)) return text
  const withoutUser = text.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#@\s]*@/i, `$1${HIDDEN}@`)
  return withoutUser
    .replaceAll(/([?&#][^=&#]*)=([^&#]*)/g, (whole, name: string, value: string) =>
      VARIABLE.test(value) ? whole : `${name}=${HIDDEN}`,
    )
    .split('/')
    .map((part) => (SECRET_VALUE.test(part) ? HIDDEN : part))
    .join('/')
}
