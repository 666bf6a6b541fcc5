import type { ControlKind, ControlLease, ControlRequest } from '@wheelhouse/protocol'
import { IconHandStop, IconSwitch } from '../base/icons.tsx'
import { messageOf } from '../base/message-of.ts'
import { useStore } from '../base/store.ts'
import { useNow } from '../base/time.tsx'
import { useMe } from '../platform/platform.ts'
import {
  controllerText,
  outranks,
  requestsFor,
  useControlKind,
  useControlLease,
} from '../session/control-query.ts'
import type { SessionDetail } from '../session/session-query.ts'
import { t } from '../texts/texts.ts'
import { type Call, CallButton } from './call.tsx'
import type { Cockpit } from './cockpit.ts'
import type { CommandGroup } from './command-menu.tsx'

const kindTexts: Record<ControlKind, string> = {
  policy: t('drive.control.policy'),
  operator: t('drive.control.operator'),
  supervisor: t('drive.control.supervisor'),
  owner: t('drive.control.owner'),
}

/** Returns what the cockpit shows and offers about control that changes hands. */
export function useControl({ operatorConnection, control }: Cockpit, session: SessionDetail) {
  const meId = useMe().id
  const frame = useStore(operatorConnection.lease)
  const { isBusy, error } = useStore(control.state)
  const known = useControlLease(session.id)
  const kind = useControlKind(session, known) ?? 'operator'
  const nowMs = useNow()
  const holds = operatorConnection.holds()
  const epoch = frame?.epoch ?? known?.epoch ?? 1
  const holder = frame ? frame.holder : (known?.holder ?? null)
  // Requests of an earlier epoch are closed.
  const requests = known && known.epoch >= epoch ? known.requests : []
  const hasAsked = requests.some(({ from, expires_at }) => from === meId && Date.parse(expires_at) > nowMs)
  const action = holds
    ? epoch > 1
      ? ('return' as const)
      : undefined
    : outranks(kind, holder)
      ? ('take_over' as const)
      : ('request' as const)
  const change = action && !isBusy && !hasAsked ? () => void control.act(action) : undefined
  const problem = error === undefined ? null : <span role="alert">{messageOf(error)}</span>
  const isKnown = frame !== null || known !== undefined
  const open = holds || isKnown ? requestsFor({ holder, requests }, { id: meId, kind }, nowMs) : []

  const requestCall = (request: ControlRequest): Call => ({
    id: `control ${request.id}`,
    shape: 'request',
    tone: 'request',
    isUrgent: true,
    testId: 'control-request',
    title: requestTitle(request),
    text: (
      <>
        {request.reason} {problem}
      </>
    ),
    acts: (
      <>
        <CallButton disabled={isBusy} onClick={() => void control.act('deny', request.id)}>
          {t('drive.control.decline')}
        </CallButton>
        <CallButton isPrimary disabled={isBusy} onClick={() => void control.act('accept', request.id)}>
          {t('drive.control.accept')}
        </CallButton>
      </>
    ),
  })
  const otherCall = (): Call => ({
    id: 'control',
    shape: 'off',
    tone: 'off',
    testId: 'control-other',
    title: controllerText(holder),
    text: (
      <>
        {hasAsked ? t('drive.control.asked') : holder && kindTexts[holder.kind]} {problem}
      </>
    ),
    acts: (
      <CallButton isPrimary hint="T" disabled={change === undefined} onClick={change}>
        {action === 'take_over' ? t('drive.control.takeOver') : t('drive.control.ask')}
      </CallButton>
    ),
  })
  const problemCall: Call = {
    id: 'control-problem',
    shape: 'off',
    tone: 'off',
    title: t('drive.control.failed'),
    text: problem,
  }
  const commands: CommandGroup['commands'] = holds
    ? [
        ...(change
          ? [{ id: 'return', icon: IconSwitch, label: t('drive.control.return'), hint: 'T', run: change }]
          : []),
        {
          id: 'help',
          icon: IconHandStop,
          label: t('drive.control.help'),
          isDisabled: isBusy || hasAsked,
          note: hasAsked ? t('drive.control.asked') : undefined,
          run: () => void control.act('offer'),
        },
      ]
    : []
  return {
    holds,
    controller: holds || !isKnown ? undefined : controllerText(holder),
    /** What the key T does. */
    change,
    hint: action === 'return' ? t('drive.control.returnHint') : undefined,
    commands,
    calls: [
      ...open.map(requestCall),
      ...(holds || !isKnown ? [] : [otherCall()]),
      ...(holds && problem && open.length === 0 ? [problemCall] : []),
    ],
  }
}

const requestTitle = ({ kind, to, from_name: name }: ControlRequest): string => {
  if (kind === 'request') return t('drive.control.requested', { name })
  return to === null ? t('drive.control.needsHelp', { name }) : t('drive.control.offered', { name })
}

/** Says who controls a robot that is watched; undefined while that is the operator of the session. */
export const watchedController = (
  lease: ControlLease | undefined,
  { operator_id }: Pick<SessionDetail, 'operator_id'>,
): string | undefined =>
  lease === undefined || lease.holder?.user_id === operator_id ? undefined : controllerText(lease.holder)
