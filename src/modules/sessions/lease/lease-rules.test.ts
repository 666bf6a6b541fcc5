import type { ControlKind } from '@wheelhouse/protocol'
import { describe, expect, test } from 'vitest'
import { type Candidate, decideLease, heirOf, type LeaseChange, type LeaseState } from './lease-rules.ts'

const kinds = ['policy', 'operator', 'supervisor', 'owner'] as const
const one = (kind: ControlKind, userId = `the ${kind}`): Candidate => ({ userId, kind })
const me = (kind: ControlKind) => one(kind, 'me')
const state = (
  holder: Candidate | null,
  { earlier = [], operator = one('operator') }: Partial<LeaseState> = {},
): LeaseState => ({ holder, earlier, operator })
const asked = (kind: 'offer' | 'request', from: Candidate, to: string | null = null) => ({
  request: { id: 'a', kind, from: from.userId, to, sender: from },
})

/** Says in a word what happens. */
function outcome(lease: LeaseState, who: Candidate, change: LeaseChange): string {
  const decision = decideLease(lease, who, change)
  if (decision.do === 'refuse') return decision.code
  if (decision.do === 'close') return decision.outcome
  if (decision.do === 'ask') return decision.kind
  return decision.to === null ? 'to nobody' : `to ${decision.to.userId}`
}
const ofKinds = (of: (kind: ControlKind) => string) =>
  Object.fromEntries(kinds.map((kind) => [kind, of(kind)]))

const no = 'control_not_allowed'

describe('taking and revoking control', () => {
  // By who holds control; in each row what a policy, an operator, a supervisor and an owner may do.
  test.for([
    ['nobody', null, [no, 'to me', 'to me', 'to me'], Array(4).fill('control_vacant')],
    ['a policy', one('policy'), [no, 'to me', 'to me', 'to me'], [no, 'to nobody', 'to nobody', 'to nobody']],
    ['an operator', one('operator'), [no, no, 'to me', 'to me'], [no, no, 'to nobody', 'to nobody']],
    ['a supervisor', one('supervisor'), [no, no, no, 'to me'], [no, no, no, 'to nobody']],
    ['an owner', one('owner'), [no, no, no, no], [no, no, no, no]],
  ] as const)('while %s holds it', ([, holder, taken, revoked]) => {
    const lease = state(holder)
    expect(kinds.map((kind) => outcome(lease, me(kind), { action: 'take_over' }))).toEqual(taken)
    expect(kinds.map((kind) => outcome(lease, me(kind), { action: 'revoke' }))).toEqual(revoked)
  })

  test('is refused to who holds it', () => {
    for (const kind of kinds) {
      const lease = state(me(kind))
      expect(outcome(lease, me(kind), { action: 'take_over' })).toBe('control_held')
      expect(outcome(lease, me(kind), { action: 'request' })).toBe('control_held')
      expect(outcome(lease, me(kind), { action: 'revoke' })).toBe(no)
    }
  })
})

describe('offering, asking for and returning control', () => {
  test.for([null, ...kinds])('while %s holds it, others only ask', (holder) => {
    const lease = state(holder && one(holder))
    expect(ofKinds((kind) => outcome(lease, me(kind), { action: 'offer' }))).toEqual(ofKinds(() => no))
    expect(ofKinds((kind) => outcome(lease, me(kind), { action: 'return' }))).toEqual(ofKinds(() => no))
    expect(ofKinds((kind) => outcome(lease, me(kind), { action: 'request' }))).toEqual(
      ofKinds(() => 'request'),
    )
  })

  test('the holder offers it to others', () => {
    for (const kind of kinds) {
      const lease = state(me(kind))
      expect(outcome(lease, me(kind), { action: 'offer' })).toBe('offer')
      expect(outcome(lease, me(kind), { action: 'offer', to: me(kind) })).toBe('invalid_request')
    }
  })

  test('it goes back to who had it last and still may, else to the operator, else to nobody', () => {
    const holder = me('supervisor')
    const back = (rest: Partial<LeaseState>) => outcome(state(holder, rest), holder, { action: 'return' })
    expect(back({ earlier: [holder, one('policy'), one('operator', 'first')] })).toBe('to the policy')
    expect(back({ earlier: [holder] })).toBe('to the operator')
    expect(back({ earlier: [], operator: null })).toBe('to nobody')
    expect(back({ earlier: [], operator: holder })).toBe('to nobody')
  })
})

describe('answers', () => {
  const accept = (request: object) => ({ action: 'accept', ...request }) as LeaseChange
  const deny = (request: object) => ({ action: 'deny', ...request }) as LeaseChange

  test.for([
    ['policy', [no, 'to me', 'to me', 'to me']],
    ['operator', [no, no, 'to me', 'to me']],
    ['supervisor', [no, no, no, 'to me']],
    ['owner', [no, no, no, no]],
  ] as const)('to a call for help of %s: by those above', ([kind, accepted]) => {
    const holder = one(kind)
    const call = asked('offer', holder)
    expect(kinds.map((other) => outcome(state(holder), me(other), accept(call)))).toEqual(accepted)
    expect(kinds.map((other) => outcome(state(holder), me(other), deny(call)))).toEqual(
      accepted.map((how) => (how === no ? no : 'denied')),
    )
  })

  test('to an offer: by whom it is for, of whatever kind', () => {
    for (const holder of kinds) {
      const lease = state(one(holder))
      for (const kind of kinds) {
        expect(outcome(lease, me(kind), accept(asked('offer', one(holder), 'me')))).toBe('to me')
        expect(outcome(lease, me(kind), deny(asked('offer', one(holder), 'me')))).toBe('denied')
        expect(outcome(lease, me(kind), accept(asked('offer', one(holder), 'another')))).toBe(no)
      }
    }
  })

  test('to a request: by the holder and those above, never by who asks', () => {
    const asking = one('policy', 'asking')
    for (const holder of kinds) {
      const request = asked('request', asking)
      expect(outcome(state(me(holder)), me(holder), accept(request))).toBe('to asking')
      expect(outcome(state(me(holder)), me(holder), deny(request))).toBe('denied')
      const above = kinds.slice(Math.max(kinds.indexOf(holder), 0) + 1)
      for (const kind of kinds)
        expect(outcome(state(one(holder)), me(kind), accept(request)), `${kind} over ${holder}`).toBe(
          above.includes(kind) ? 'to asking' : no,
        )
    }
    expect(outcome(state(one('policy')), me('owner'), accept(asked('request', me('owner'))))).toBe(no)
  })

  test('are refused to what is not open, not named, or of a user who may not drive any more', () => {
    const lease = state(me('operator'))
    expect(outcome(lease, me('operator'), { action: 'accept' })).toBe('invalid_request')
    expect(outcome(lease, me('operator'), { action: 'deny' })).toBe('invalid_request')
    expect(outcome(lease, me('operator'), { action: 'accept', request: null })).toBe('control_request_closed')
    expect(outcome(lease, me('operator'), { action: 'revoke', request: null })).toBe('control_request_closed')
    const gone = { request: { id: 'a', kind: 'request' as const, from: 'gone', to: null, sender: null } }
    expect(outcome(lease, me('operator'), accept(gone))).toBe('control_ineligible')
  })

  test('only the sender withdraws an offer or a request', () => {
    const lease = state(one('operator'))
    for (const kind of kinds) {
      const revoke = (from: Candidate) => ({ action: 'revoke', ...asked('request', from) }) as LeaseChange
      expect(outcome(lease, me(kind), revoke(me(kind)))).toBe('withdrawn')
      expect(outcome(lease, me(kind), revoke(one('operator', 'another')))).toBe(no)
    }
  })
})

test('a lost holder leaves control to a connected person, never to a policy or to itself', () => {
  const holder = one('supervisor')
  const lease = state(holder, { earlier: [holder, one('policy'), one('owner')] })
  expect(heirOf(lease, () => true)).toEqual(one('owner'))
  expect(heirOf(lease, (userId) => userId === 'the operator')).toEqual(one('operator'))
  expect(heirOf(lease, (userId) => userId === 'the policy')).toBeNull()
  expect(heirOf(state(holder, { operator: holder }), () => true)).toBeNull()
})
