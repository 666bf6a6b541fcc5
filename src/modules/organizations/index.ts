export { dataGrantEndpoints } from './data-grant.routes.ts'
export { createDataGrants, type DataGrants } from './data-grant.service.ts'
export { createMemberships, type Memberships, ownMembership } from './membership.service.ts'
