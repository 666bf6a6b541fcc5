/** The audience of the development provider's access tokens. */
export const DEV_AUDIENCE = 'urn:wheelhouse:api'
/**
 * The issuer that the database stores for the provider's users. The real issuer contains the port, so a changed port
 * would create new users.
 */
export const DEV_ISSUER_NAME = 'urn:wheelhouse:idp'
export const DASHBOARD_CLIENT_ID = 'wheelhouse-dashboard'
export const CLI_CLIENT_ID = 'wheelhouse-cli'
