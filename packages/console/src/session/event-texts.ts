import {
  type SessionEventType,
  type SessionLogEvent,
  TransferReason,
  SessionEventType as Types,
} from '@wheelhouse/protocol'
import { timeOfDay } from '../base/format.ts'
import { recordedText } from '../recording/recording-texts.ts'
import type { ShapeName } from '../status/shape-name.ts'
import { gapText, reasonText } from '../texts/code-texts.ts'
import { readText } from '../texts/text-parts.tsx'
import { language, type TextKey, t } from '../texts/texts.ts'
import type { SessionDetail } from './session-query.ts'

export type SessionParticipants = ReturnType<typeof participantsOf>

export const participantsOf = (
  session: Pick<SessionDetail, 'operator_id' | 'operator_name' | 'client_id' | 'own_operator'> | undefined,
  meId: string,
) => ({
  meId,
  operatorId: session?.operator_id,
  operatorName: session?.operator_name,
  clientId: session?.client_id,
  /** Whether people without a part of their own may act: a viewer who has none is a member of a team, or an admin. */
  hasMembers:
    session !== undefined &&
    (session.own_operator === true || (session.client_id !== meId && session.operator_id !== meId)),
})

type Data = SessionLogEvent['data']

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value : undefined
const clock = (value: unknown): string => {
  const at = new Date(String(value))
  return Number.isNaN(at.getTime()) ? t('session.events.unknownTime') : timeOfDay(at)
}
const tenths = new Intl.NumberFormat(language, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** Returns the actor for the start of a sentence. Without an id the platform acted. */
export function actorName(
  actorId: unknown,
  { meId, operatorId, operatorName, clientId, hasMembers }: SessionParticipants,
): string {
  const id = text(actorId)
  if (id === undefined) return t('session.actor.platform')
  if (id === meId) return t('session.actor.you')
  if (id === operatorId) return operatorName ?? t('session.actor.operator')
  if (id === clientId) return t('session.actor.owner')
  return hasMembers ? t('session.actor.member') : t('session.actor.admin')
}

/** Adds the outage before an entry, which is neither billed nor paid. */
const withOutage = (event: string, { outage_seconds: seconds }: Data): string =>
  typeof seconds === 'number' && seconds > 0
    ? t('session.events.outage', { event, seconds: tenths.format(seconds) })
    : event

type Text = (actor: string, data: Data) => string

/** Returns the text of an event that may have a reason and follow an outage. */
const withReason =
  (plain: TextKey, because: TextKey): Text =>
  (actor, data) => {
    const reason = reasonText(data.reason)
    return withOutage(readText(reason === '' ? plain : because, { actor, reason }), data)
  }

const transferTexts: Record<TransferReason, (actor: string) => string> = {
  offered: (actor) => t('session.events.controlAccepted', { actor }),
  granted: (actor) => t('session.events.controlGranted', { actor }),
  taken_over: (actor) => t('session.events.controlTaken', { actor }),
  returned: (actor) => t('session.events.controlReturned', { actor }),
  revoked: (actor) => t('session.events.controlRevoked', { actor }),
  lost: () => t('session.events.controlLost'),
}

const texts: Record<SessionEventType, Text> = {
  'session.scheduled': (actor) => t('session.events.scheduled', { actor }),
  'session.started': (actor) => t('session.events.started', { actor }),
  'session.paused': withReason('session.events.paused', 'session.events.pausedFor'),
  'session.resumed': (actor) => t('session.events.resumed', { actor }),
  'session.ended': withReason('session.events.ended', 'session.events.endedFor'),
  'session.cancelled': withReason('session.events.cancelled', 'session.events.cancelledFor'),
  'session.stopped': withReason('session.events.stopped', 'session.events.stoppedFor'),
  'session.stop_cleared': (actor) => t('session.events.stopCleared', { actor }),
  'session.stop_clear_requested': withReason(
    'session.events.stopClearRequested',
    'session.events.stopClearRequestedFor',
  ),
  'session.pause_limit_soon': (_, { ends_at }) =>
    t('session.events.pauseLimitSoon', { time: clock(ends_at) }),
  'session.planned_end_soon': (_, { planned_end }) =>
    t('session.events.plannedEndSoon', { time: clock(planned_end) }),
  'session.rated': (actor, { rating }) => t('session.events.rated', { actor, rating: String(rating) }),
  'extension.requested': (actor, { additional_minutes: minutes }) =>
    t('session.events.extensionRequested', { actor, count: Number(minutes) }),
  'extension.approved': (actor, { additional_minutes: minutes }) =>
    t('session.events.extensionApproved', { actor, count: Number(minutes) }),
  'extension.declined': (actor, { additional_minutes: minutes }) =>
    t('session.events.extensionDeclined', { actor, count: Number(minutes) }),
  'robot.lost': (_, data) => withOutage(t('session.events.robotLost'), data),
  'robot.back': (_, { offline_seconds: seconds }) =>
    typeof seconds === 'number'
      ? t('session.events.robotBackAfter', { seconds: tenths.format(seconds) })
      : t('session.events.robotBack'),
  'operator.back': () => t('session.events.operatorBack'),
  'control.transferred': (actor, { reason }) => {
    const parsed = TransferReason.safeParse(reason)
    return parsed.success ? transferTexts[parsed.data](actor) : t('session.events.controlTransferred')
  },
  'control.requested': (actor, { kind, reason }) => {
    const why = text(reason)
    const what = t(kind === 'request' ? 'session.events.controlRequested' : 'session.events.controlOffered', {
      actor,
    })
    return why ? `${what}: ${why}` : what
  },
  'control.request_closed': (actor, { outcome }) =>
    t(outcome === 'denied' ? 'session.events.controlDenied' : 'session.events.controlWithdrawn', { actor }),
  'recording.started': (_, { mode }) => t('session.events.recordingStarted', { what: recordedText(mode) }),
  'recording.paused': (_, { reason }) => t('session.events.recordingPaused', { reason: gapText(reason) }),
  'recording.resumed': () => t('session.events.recordingResumed'),
  'recording.stopped': () => t('session.events.recordingStopped'),
  'episode.started': (actor, { task }) => {
    const words = text(task)
    return words
      ? t('session.events.episodeStartedTask', { actor, task: words })
      : t('session.events.episodeStarted', { actor })
  },
  'episode.ended': (actor, { success }) => {
    if (typeof success !== 'boolean') return t('session.events.episodeEnded', { actor })
    return success
      ? t('session.events.episodeSucceeded', { actor })
      : t('session.events.episodeFailed', { actor })
  },
  'episode.discarded': (actor) => t('session.events.episodeDiscarded', { actor }),
  'chat.message': (_, { sender_name, body }) =>
    t('session.events.message', {
      sender: text(sender_name) ?? t('session.events.unknownUser'),
      message: String(body),
    }),
}

/** The shapes of events that changed a state or ask for something. The others have a ring. */
const shapes: Partial<Record<SessionEventType, ShapeName>> = {
  'session.started': 'live',
  'session.resumed': 'live',
  'session.paused': 'paused',
  'session.stopped': 'stopped',
  'session.stop_clear_requested': 'request',
  'extension.requested': 'request',
  'control.requested': 'request',
  'robot.lost': 'lost',
  'robot.back': 'live',
  'operator.back': 'live',
  'recording.paused': 'delayed',
  'episode.started': 'live',
}

export const eventShape = (type: string): ShapeName => shapes[type as SessionEventType] ?? 'off'

/** Returns a log entry as a sentence. An unknown type becomes words. */
export function eventText(
  event: { readonly type: string; readonly data: Data },
  participants: SessionParticipants,
): string {
  const type = Types.safeParse(event.type).data
  const actor = actorName(event.data.actor_id, participants)
  return type ? texts[type](actor, event.data) : event.type.replaceAll(/[._]/g, ' ')
}
