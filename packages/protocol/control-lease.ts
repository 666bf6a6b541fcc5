import { z } from 'zod'
import { exampleIds, idOf } from './examples.ts'

// Who controls a robot in a session. Exactly one participant holds control, or nobody. Every change begins a new epoch, a number that
// only rises: the robot refuses commands of earlier epochs.

/** In what part a participant holds control. */
export const ControlKind = z.enum(['operator', 'supervisor', 'policy', 'owner'])
export type ControlKind = z.infer<typeof ControlKind>

/** Who wins: a kind takes control from those of a lower authority. People come before policies, the owner before all. */
export const controlAuthority: Readonly<Record<ControlKind, number>> = {
  policy: 0,
  operator: 1,
  supervisor: 2,
  owner: 3,
}

export const ControlHolder = z
  .object({
    participant_id: z.uuid().meta({
      description: 'The participation of this user in this session.',
      examples: ['6f1c7e52-6d0b-4c3a-9a1e-8f0f5b1f2c11'],
    }),
    kind: ControlKind,
    user_id: idOf('operator'),
    name: z.string().meta({ examples: ['Olga'] }),
    since: z.iso.datetime().meta({ examples: ['2026-11-20T09:31:00.000Z'] }),
  })
  .meta({ id: 'ControlHolder', description: 'Who controls the robot.' })
export type ControlHolder = z.infer<typeof ControlHolder>

/** The first epoch of a session. Its holder is the operator who started the session, or the policy that did; frames do not name it. */
export const FIRST_EPOCH = 1

export const ControlEpoch = z
  .number()
  .int()
  .min(FIRST_EPOCH)
  .meta({ description: 'Rises with every change of the holder.', examples: [3] })

export const ControlAction = z.enum(['offer', 'request', 'accept', 'deny', 'take_over', 'return', 'revoke'])
export type ControlAction = z.infer<typeof ControlAction>

/** Why the holder changed. */
export const TransferReason = z.enum([
  /** An offer was accepted. */
  'offered',
  /** A request was granted. */
  'granted',
  'taken_over',
  'returned',
  'revoked',
  /** The connection of the holder was lost. */
  'lost',
])
export type TransferReason = z.infer<typeof TransferReason>

/**
 * Tells participants, and the robot, who controls it. It comes with every change, and to a new connection once control has changed
 * hands. Before that, only those who may hold control but do not get it, after their first `state`.
 */
export const LeaseFrame = z.looseObject({
  type: z.literal('lease'),
  epoch: ControlEpoch,
  holder: ControlHolder.nullable(),
  /** Whether it is the receiver who holds control. Missing for the robot. */
  you: z.boolean().optional(),
  /** For the new holder: what the robot was told and reported last, so that a program continues from there. */
  last: z.object({ command: z.unknown().optional(), telemetry: z.unknown().optional() }).optional(),
})
export type LeaseFrame = z.infer<typeof LeaseFrame>

/** A holder in the log of a session, which names nobody. */
const LoggedHolder = ControlHolder.omit({ name: true, since: true })

/** The data of the log entry and hub event `control.transferred`. */
export const ControlTransferred = z.object({
  from: LoggedHolder.nullable(),
  to: LoggedHolder.nullable(),
  epoch: ControlEpoch,
  reason: TransferReason,
})
export type ControlTransferred = z.infer<typeof ControlTransferred>

export const ControlRequest = z
  .object({
    id: z.uuid().meta({ examples: ['0b8f4a06-9a43-4a0c-8a35-7a4d53a3a6f1'] }),
    kind: z.enum(['offer', 'request']).meta({
      description: 'An `offer` gives control away, a `request` asks the holder for it.',
    }),
    from: idOf('operator').meta({ description: 'The user who offers or requests control.' }),
    from_name: z.string().meta({ examples: ['Olga'] }),
    to: z
      .uuid()
      .nullable()
      .meta({
        description:
          'The user to whom control is offered; null for everybody who could take over: the sender asks for help. Of a request: null, the holder decides.',
        examples: [exampleIds.client],
      }),
    reason: z
      .string()
      .nullable()
      .meta({ examples: ['The gripper is stuck'] }),
    expires_at: z.iso.datetime().meta({ examples: ['2026-11-20T09:32:00.000Z'] }),
  })
  .meta({
    id: 'ControlRequest',
    description: 'An offer of control, or a request for it, that waits for an answer.',
  })
export type ControlRequest = z.infer<typeof ControlRequest>

/** An offer or a request in the log of a session, which names nobody. */
export type LoggedControlRequest = Omit<ControlRequest, 'from_name'>

/** The control lease of a session, as REST returns it. */
export const ControlLease = z
  .object({
    epoch: ControlEpoch,
    holder: ControlHolder.nullable().meta({
      description: 'Null: nobody controls the robot, and it stands still.',
    }),
    requests: z.array(ControlRequest),
  })
  .meta({ id: 'ControlLease', description: 'Who controls the robot of a session, and who wants to.' })
export type ControlLease = z.infer<typeof ControlLease>
/** Who holds control, and in which epoch. A higher epoch is newer. */
export type Lease = Pick<ControlLease, 'epoch' | 'holder'>
