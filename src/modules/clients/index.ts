export { clientProfileEndpoints } from './client-profile.routes.ts'
export { createClientProfiles } from './client-profile.service.ts'
export { clientStatsEndpoints } from './stats.routes.ts'
export { createClientStats } from './stats.service.ts'
