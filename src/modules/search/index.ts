export { searchEndpoint } from './search.routes.ts'
export { createSearch } from './search.service.ts'
