import type { Schemas } from '@wheelhouse/sdk'
import type { BandPart } from '../base/band.tsx'
import { keys } from '../platform/queries.ts'
import { useRead } from '../platform/rest.ts'

export type Activity = Schemas['Activity']

/** Events of sessions refetch at once; the rest only grows. */
const POLL_MS = 30_000

/** Queries what the owner's robots did in the sessions of the last day, or one of them; undefined until known. */
export function useActivity(robotId?: string): Activity | undefined {
  return useRead(
    [...keys.sessions, 'activity', robotId],
    (rest, { signal }) => rest.GET('/api/client/activity', { params: { query: { robotId } }, signal }),
    { refetchInterval: POLL_MS },
  ).data
}

/** Returns the parts of a band that a session fills. @param nowMs the end of a part that lasts */
export const bandPartsOf = ({ spans }: Activity['sessions'][number], nowMs: number): BandPart[] =>
  spans.map(({ state, from, to }) => ({
    state,
    fromMs: Date.parse(from),
    toMs: to === null ? nowMs : Date.parse(to),
  }))
