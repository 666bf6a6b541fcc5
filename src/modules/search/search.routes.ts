import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { SearchQuery, SearchResults } from './search.schema.ts'
import type { Search } from './search.service.ts'

/** Returns the route that searches what the caller may open. */
export const searchEndpoint = ({ search }: { readonly search: Search }): Endpoint =>
  endpoint({
    method: 'get',
    path: '/api/search',
    list: true,
    summary: 'Searches your robots, robots that you may drive, your newest sessions and, for admins, users',
    access: {},
    query: SearchQuery,
    response: [200, SearchResults],
    run: async ({ caller, query }) => ({ results: await search.find(caller, query.q) }),
  })
