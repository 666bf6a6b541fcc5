export { createMemberships, type Memberships, ownMembership } from './membership.service.ts'
export { createOrganizations, type Organizations } from './module.ts'
export { organizationEndpoints, requireActingFor } from './organization.routes.ts'
