export { auditEndpoints } from './audit.routes.ts'
export { adminListEndpoints } from './lists.routes.ts'
export { overviewEndpoint } from './overview.routes.ts'
