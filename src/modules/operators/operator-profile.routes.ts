import type { z } from 'zod'
import { iso } from '../../core/database/iso.ts'
import { type Endpoint, endpoint } from '../../core/http/endpoint.ts'
import { OperatorProfileView, SaveOperatorProfile } from './operator-profile.schema.ts'
import type { OperatorProfiles } from './operator-profile.service.ts'

type Row = Awaited<ReturnType<OperatorProfiles['get']>>

/** Returns the routes of the caller's operator profile. */
export function operatorProfileEndpoints(deps: { operatorProfiles: OperatorProfiles }): Endpoint[] {
  const { operatorProfiles } = deps
  const access = { role: 'operator' } as const
  return [
    endpoint({
      method: 'get',
      path: '/api/operator/profile',
      summary: 'Returns your operator profile and your ratings',
      access,
      response: [200, OperatorProfileView],
      run: async ({ caller }) => view(await operatorProfiles.get(caller.userId)),
    }),
    endpoint({
      method: 'post',
      path: '/api/operator/profile',
      summary: 'Creates or changes your operator profile; omitted fields stay unchanged',
      access,
      body: SaveOperatorProfile,
      response: [200, OperatorProfileView],
      run: async ({ caller, body }) => view(await operatorProfiles.save(caller.userId, body)),
    }),
  ]
}

const view = (row: Row): z.infer<typeof OperatorProfileView> => ({
  headline: row.headline,
  bio: row.bio,
  country: row.country,
  timezone: row.timezone,
  languages: row.languages ?? [],
  rating_average: row.rating_average,
  rating_count: row.rating_count ?? 0,
  payout_ready: row.payout_ready_at !== null,
  created_at: iso(row.created_at),
})
