import { useQuery } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import type { BandPart } from '../base/band.tsx'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'

export type Activity = Schemas['Activity']

/** Events of sessions refetch at once; the rest only grows. */
const POLL_MS = 30_000

/** Queries what the owner's robots did in the sessions of the last day, or one of them; undefined until known. */
export function useActivity(robotId?: string): Activity | undefined {
  const { rest } = usePlatform()
  return useQuery({
    queryKey: [...keys.sessions, 'activity', robotId],
    queryFn: ({ signal }) =>
      answerOf(rest.GET('/api/client/activity', { params: { query: { robotId } }, signal })),
    refetchInterval: POLL_MS,
  }).data
}

/** Returns the parts of a band that a session fills. @param nowMs the end of a part that lasts */
export const bandPartsOf = ({ spans }: Activity['sessions'][number], nowMs: number): BandPart[] =>
  spans.map(({ state, from, to }) => ({
    state,
    fromMs: Date.parse(from),
    toMs: to === null ? nowMs : Date.parse(to),
  }))
