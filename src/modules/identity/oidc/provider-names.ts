/** Whom the development provider's access tokens are for. */
export const DEV_AUDIENCE = 'urn:wheelhouse:api'
/** Its people are kept under this name: its issuer follows the port, and they would be others after a change. */
export const DEV_ISSUER_NAME = 'urn:wheelhouse:idp'
export const DASHBOARD_CLIENT_ID = 'wheelhouse-dashboard'
export const CLI_CLIENT_ID = 'wheelhouse-cli'
