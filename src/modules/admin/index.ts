export { adminListEndpoints, overviewEndpoint } from './admin.routes.ts'
export { auditEndpoints } from './audit.routes.ts'
