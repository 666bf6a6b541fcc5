import {
  type ControlAction,
  type ControlKind,
  type ControlRequest,
  controlAuthority,
  type ErrorCode,
  type TransferReason,
} from '@wheelhouse/protocol'

// Which change of the control lease is allowed to whom: a pure function, as the gate of the gateway.

/** A user who may hold control of a robot, and as what. */
export interface Candidate {
  readonly userId: string
  readonly kind: ControlKind
}

/** What decides about a change of the lease. */
export interface LeaseState {
  readonly holder: Candidate | null
  /** Those who held control before, the latest first, as far as they still may. */
  readonly earlier: readonly Candidate[]
  /** The operator of the session, if the user still may control the robot. */
  readonly operator: Candidate | null
}

/** The change that a user asks for. */
export interface LeaseChange {
  readonly action: ControlAction
  /** To whom control is offered; null for everybody who could take over. */
  readonly to?: Candidate | null | undefined
  /** The open offer or request that the action concerns; undefined if none was named, null if it is not open. */
  readonly request?:
    | (Pick<ControlRequest, 'id' | 'kind' | 'from' | 'to'> & { sender: Candidate | null })
    | null
}

export type LeaseDecision =
  | { readonly do: 'transfer'; readonly to: Candidate | null; readonly reason: TransferReason }
  | { readonly do: 'ask'; readonly kind: 'offer' | 'request' }
  | { readonly do: 'close'; readonly outcome: 'denied' | 'withdrawn' }
  | {
      readonly do: 'refuse'
      readonly status: 400 | 403 | 409
      readonly code: ErrorCode
      readonly why: string
    }

const refuse = (status: 400 | 403 | 409, code: ErrorCode, why: string): LeaseDecision => ({
  do: 'refuse',
  status,
  code,
  why,
})
const notAllowed = (why: string) => refuse(403, 'control_not_allowed', why)

const isAbove = (one: Candidate, other: Candidate | null): boolean =>
  other === null
    ? controlAuthority[one.kind] > controlAuthority.policy
    : controlAuthority[one.kind] > controlAuthority[other.kind]

/** Returns to whom control goes back when its holder gives it back: who had it before, or the operator, or nobody. */
function successorOf({ holder, earlier, operator }: LeaseState): Candidate | null {
  const others = [...earlier, ...(operator ? [operator] : [])]
  return others.find(({ userId }) => userId !== holder?.userId) ?? null
}

/**
 * Returns who gets control of a holder whose connection is lost: the last person before who is connected, or nobody. Never a policy: a
 * program must not begin to drive because a person is gone.
 */
export const heirOf = (state: LeaseState, isConnected: (userId: string) => boolean): Candidate | null =>
  [...state.earlier, ...(state.operator ? [state.operator] : [])].find(
    ({ userId, kind }) => userId !== state.holder?.userId && kind !== 'policy' && isConnected(userId),
  ) ?? null

/** Decides what one user may do with the lease. */
export function decideLease(state: LeaseState, me: Candidate, change: LeaseChange): LeaseDecision {
  const { holder } = state
  const holds = holder?.userId === me.userId
  const { action, request, to } = change
  switch (action) {
    case 'offer':
      if (!holds) return notAllowed('Only who controls the robot can offer control. Ask for it instead.')
      if (to?.userId === me.userId) return refuse(400, 'invalid_request', 'to: must be another participant')
      return { do: 'ask', kind: 'offer' }
    case 'request':
      if (holds) return alreadyHeld
      return { do: 'ask', kind: 'request' }
    case 'take_over':
      if (holds) return alreadyHeld
      if (!isAbove(me, holder))
        return notAllowed(
          holder === null
            ? 'A policy cannot take control. Send a request, which a person grants.'
            : 'You can take control only from participants of a lower authority. Ask for it instead.',
        )
      return { do: 'transfer', to: me, reason: 'taken_over' }
    case 'return':
      if (!holds) return notAllowed('Only who controls the robot can give control back.')
      return { do: 'transfer', to: successorOf(state), reason: 'returned' }
    case 'revoke':
      if (request !== undefined) return decideWithdrawal(me, request)
      if (holder === null) return refuse(409, 'control_vacant', 'Nobody controls the robot.')
      if (!isAbove(me, holder))
        return notAllowed('You can revoke control only from those of a lower authority.')
      return { do: 'transfer', to: null, reason: 'revoked' }
    default:
      return decideAnswer(state, me, action, request)
  }
}

const alreadyHeld = refuse(409, 'control_held', 'You control the robot already.')
const closed = refuse(
  409,
  'control_request_closed',
  'The offer or request is not open any more: it has expired, was answered, or control has changed hands.',
)

function decideWithdrawal(me: Candidate, request: LeaseChange['request']): LeaseDecision {
  if (!request) return closed
  if (request.from !== me.userId) return notAllowed('Only its sender can withdraw it. Deny it instead.')
  return { do: 'close', outcome: 'withdrawn' }
}

/** Decides who may accept or deny: of an offer whom it is for, of a request the holder, or who may take control from the holder. */
function decideAnswer(
  { holder }: LeaseState,
  me: Candidate,
  action: 'accept' | 'deny',
  request: LeaseChange['request'],
): LeaseDecision {
  if (request === undefined) return refuse(400, 'invalid_request', 'requestId: is required')
  if (request === null) return closed
  const answers =
    request.kind === 'offer'
      ? request.to === me.userId || (request.to === null && isAbove(me, holder))
      : holder?.userId === me.userId || isAbove(me, holder)
  if (!answers || request.from === me.userId)
    return notAllowed('This offer or request is not for you to answer.')
  if (action === 'deny') return { do: 'close', outcome: 'denied' }
  if (request.kind === 'offer') return { do: 'transfer', to: me, reason: 'offered' }
  if (request.sender === null)
    return refuse(409, 'control_ineligible', 'The user who asks may not control this robot any more.')
  return { do: 'transfer', to: request.sender, reason: 'granted' }
}
