import {
  type ControlHolder,
  type ControlKind,
  type ControlLease,
  type ControlRequest,
  controlAuthority,
} from '@wheelhouse/protocol'
import { memberMay, useOrganization } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { byId, useRead } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { type SessionDetail, sessionKey } from './session-query.ts'

/** Queries who controls the robot of a session, and who wants to. The live layer invalidates it on every new log entry. */
export const useControlLease = (sessionId: string): ControlLease | undefined =>
  useRead([...sessionKey(sessionId), 'control'], (rest, { signal }) =>
    rest.GET('/api/sessions/{id}/control', { ...byId(sessionId), signal }),
  ).data

/** Returns as what the user may hold control of the robot, by the same rules as the platform; undefined if not at all. */
export function useControlKind(
  session: Pick<SessionDetail, 'id' | 'operator_id' | 'client_id'>,
  lease: ControlLease | undefined,
): ControlKind | undefined {
  const { id: meId } = useMe()
  const organization = useOrganization()
  if (organization.id === session.client_id) {
    if (organization.role === 'owner') return 'owner'
    if (memberMay(organization, 'sessions.take_over')) return 'supervisor'
    if (memberMay(organization, 'sessions.drive')) return 'operator'
  }
  const isGuest =
    lease?.holder?.user_id === meId || lease?.requests.some(({ to, from }) => to === meId || from === meId)
  return session.operator_id === meId || isGuest ? 'operator' : undefined
}

/** Says who controls the robot. */
export const controllerText = (holder: Pick<ControlHolder, 'name'> | null): string =>
  holder ? t('drive.control.other', { name: holder.name }) : t('drive.control.nobody')

/** Returns whether the kind takes control from this holder without asking. */
export const outranks = (kind: ControlKind, holder: Pick<ControlHolder, 'kind'> | null): boolean =>
  controlAuthority[kind] > (holder ? controlAuthority[holder.kind] : controlAuthority.policy)

/** Returns the open offers and requests that a participant is to answer. */
export function requestsFor(
  { holder, requests }: Pick<ControlLease, 'holder' | 'requests'>,
  me: { readonly id: string; readonly kind: ControlKind },
  nowMs: number,
): readonly ControlRequest[] {
  const answers = ({ kind, to }: ControlRequest) =>
    kind === 'offer'
      ? to === me.id || (to === null && outranks(me.kind, holder))
      : holder?.user_id === me.id || (holder === null && outranks(me.kind, null))
  return requests.filter(
    (request) => request.from !== me.id && answers(request) && Date.parse(request.expires_at) > nowMs,
  )
}
