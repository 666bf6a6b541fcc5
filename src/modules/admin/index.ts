export { adminListEndpoints, auditEndpoints, overviewEndpoint } from './admin.routes.ts'
