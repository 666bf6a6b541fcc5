export { auditEndpoints } from './audit.routes.ts'
export { overviewEndpoint } from './overview.routes.ts'
