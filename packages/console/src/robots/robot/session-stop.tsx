import { useQuery } from '@tanstack/react-query'
import { usePlatform } from '../../platform/platform.ts'
import { type LiveSession, useLiveSession } from '../../platform/use-live.ts'
import { useStopText } from '../../session/clear-stop.tsx'
import { type SessionDetail, sessionQuery } from '../../session/session-query.ts'
import { StopBar, useStop } from '../../session/stop-bar.tsx'

/** Shows the stop of a robot's open session on pages without a connection to the gateway. */
export function SessionStop({ sessionId }: { sessionId: string }) {
  const { rest } = usePlatform()
  const live = useLiveSession(sessionId)
  const { data } = useQuery(sessionQuery(rest, sessionId))
  return live && data ? <Bar live={live} session={data} /> : null
}

function Bar({ live, session }: { live: LiveSession; session: SessionDetail }) {
  const stop = useStop(live.room, undefined)
  const recordedStopText = useStopText(session)
  return <StopBar stop={stop} inForce={recordedStopText || undefined} />
}
