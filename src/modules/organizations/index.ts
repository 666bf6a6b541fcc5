export { createMemberships, type Memberships, ownMembership } from './membership.service.ts'
