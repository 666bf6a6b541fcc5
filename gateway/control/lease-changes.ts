import { type ControlHolder, controlAuthority, roleMay } from '@wheelhouse/protocol'
import type { BusTopics } from '../../src/core/events/bus.ts'
import type { ControlSession } from './control-session.ts'
import type { ControlSessionRegistry } from './control-session-registry.ts'

/** How long commands wait for the database to decide about a change. Afterwards the former holder drives on. */
const CHANGE_LIMIT_MS = 1_000

/**
 * Applies changes of who holds control. The database decides; a process that asks it tells the gateway before, so that the robot halts
 * at once, and afterwards, so that the new holder drives at once. Polls find what these messages do not bring.
 */
export function createLeaseChanges(deps: { sessionRegistry: ControlSessionRegistry; clockMs: () => number }) {
  const { sessionRegistry, clockMs } = deps

  return {
    onChanging({ sessionId, begins, userId, organization }: BusTopics['control.changing']): void {
      const controlSession = sessionRegistry.of(sessionId)
      if (!begins) controlSession?.endChanging(userId)
      else if (controlSession && mayChange(controlSession, userId, organization))
        controlSession.beginChanging(userId, clockMs() + CHANGE_LIMIT_MS, clockMs())
    },

    onTransferred({ sessionId, epoch, holder }: BusTopics['control.transferred']): void {
      sessionRegistry.of(sessionId)?.applyLease({ epoch, holder }, clockMs())
    },
  }
}

/** Returns whether a user could take or give control away now, as far as the gateway knows. Nobody else may halt the robot ahead. */
function mayChange(
  { session, lease }: ControlSession,
  userId: string,
  { id, role, groupIds }: BusTopics['control.changing']['organization'],
): boolean {
  const { holder } = lease
  if (holder === null) return false
  if (holder.user_id === userId) return true
  const above = (kind: ControlHolder['kind']) => controlAuthority[kind] > controlAuthority[holder.kind]
  if (userId === session.operatorId && above('operator')) return true
  const isMember =
    id === session.clientId &&
    (groupIds === null || (session.groupId !== null && groupIds.includes(session.groupId)))
  if (!isMember || !roleMay(role, 'sessions.drive')) return false
  if (role === 'owner') return above('owner')
  return above(roleMay(role, 'sessions.take_over') ? 'supervisor' : 'operator')
}
