export { createMemberships } from './membership.service.ts'
export { createOrganizations } from './module.ts'
export { organizationEndpoints } from './organization.routes.ts'
