import type { SessionStatus } from '@wheelhouse/protocol'
import { sessionStatusTexts } from '../texts/code-texts.ts'
import type { ShapeName } from './shape-name.ts'
import { StateLabel } from './state-label.tsx'

const shapes: Record<SessionStatus, ShapeName> = {
  PENDING: 'request',
  ACTIVE: 'live',
  PAUSED: 'paused',
  COMPLETED: 'off',
  CANCELLED: 'off',
}

/** Shows the status of a session. @param props.isOutdated whether this is only the last known status */
export const SessionStatusLabel = (props: { status: SessionStatus; isOutdated?: boolean }) => (
  <StateLabel shape={props.isOutdated ? 'off' : shapes[props.status]} state={props.status}>
    {sessionStatusTexts[props.status]}
  </StateLabel>
)
