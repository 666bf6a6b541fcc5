export { createProvisioning, provisioningRoutes, scimServer } from './module.ts'
