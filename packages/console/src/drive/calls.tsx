import { closeCodes } from '@wheelhouse/protocol'
import type { ReactNode } from 'react'
import { clockText, timeOfDay } from '../base/format.ts'
import { messageOf } from '../base/message-of.ts'
import { useStore } from '../base/store.ts'
import { Time, useNow } from '../base/time.tsx'
import type { EpisodeMarks } from '../episodes/episode-panel.tsx'
import { useMe } from '../platform/platform.ts'
import type { LiveSession } from '../platform/use-live.ts'
import { ExtensionPanel, newestExtension } from '../session/extension-panel.tsx'
import { Countdown, lostUntil } from '../session/notices.tsx'
import { type SessionDetail, useSessionAction } from '../session/session-query.ts'
import { HoldButton } from '../stop/hold-button.tsx'
import type { StopControl, StopRequestState } from '../stop/stop.ts'
import { closeText, reasonText } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import { type Call, CallButton, KeyHint } from './call.tsx'
import type { DriveActions } from './hud-actions.ts'
import type { LinkView } from './operator-connection.ts'
import { findLatchedStop, type LatchedStop } from './operator-stop.ts'
import styles from './plates.module.css'
import type { RobotView } from './robot-view.ts'

const CLEAR_MS = 1_000

interface StopCallOptions {
  readonly request: StopRequestState
  readonly inForce: LatchedStop | undefined
  readonly session: SessionDetail
  readonly meId: string
  readonly isWatching: boolean
  readonly acts: ReactNode
}

/** Returns the call of a stop: one that is being sent, was rejected, or is in force; undefined without one. */
export function stopCall({ request, inForce, ...options }: StopCallOptions): Call | undefined {
  const common = {
    id: 'stop',
    shape: 'stopped',
    tone: 'blind',
    isUrgent: true,
    testId: 'stop-banner',
  } as const
  if (inForce) return { ...common, ...stopTexts(inForce, options), acts: options.acts }
  switch (request.phase) {
    case 'none':
      return undefined
    case 'requested':
      return { ...common, title: t('drive.stop.sent'), text: t('drive.stop.sentText') }
    case 'recorded':
      return { ...common, title: t('drive.stop.recorded') }
    case 'rejected':
      return { ...common, title: t('drive.stop.rejected'), text: messageOf(request.error) }
  }
}

function stopTexts(
  stop: LatchedStop,
  { session, meId, isWatching }: Pick<StopCallOptions, 'session' | 'meId' | 'isWatching'>,
): Pick<Call, 'id' | 'title' | 'text'> {
  const known = session.control.stop
  return {
    // Another text is another element: one that is centred would move as it grows.
    id: `stop ${stop.recorded} ${known?.at} ${known?.clear_requested_at}`,
    title: stopTitle(stop, session, meId),
    text: (
      <>
        {known && <time dateTime={known.at}>{timeOfDay(new Date(known.at))}</time>} {reasonText(stop.reason)}
        {'. '}
        {stop.recorded ? nextStep(known?.may_clear, isWatching) : t('drive.stop.saving')}
        {known?.clear_requested_at && (
          <> {textParts('session.clearStop.requested', { time: <Time at={known.clear_requested_at} /> })}</>
        )}
      </>
    ),
  }
}

/** Returns who requested a stop: by the user if known, otherwise by the role. */
function stopTitle({ by, byRole }: LatchedStop, session: SessionDetail, meId: string): string {
  const { client_id: ownerId, operator_id: operatorId, robot_name: robot } = session
  if (by === null) return t('drive.stop.byPlatform', { robot })
  const id = by ?? (byRole === 'client' ? ownerId : byRole === 'operator' ? operatorId : undefined)
  if (id === undefined && !byRole) return t('drive.stop.byUnknown', { robot })
  if (id === meId) return t('drive.stop.byYou', { robot })
  if (id === ownerId || byRole === 'client') return t('drive.stop.byOwner', { robot })
  return id === operatorId
    ? t('drive.stop.byOperator', { operator: session.operator_name })
    : t('drive.stop.byAdmin', { robot })
}

function nextStep(mayClear: boolean | undefined, isWatching: boolean): string {
  if (mayClear === undefined) return ''
  if (!mayClear) return t('drive.stop.ownerClears')
  return isWatching ? t('drive.watch.clear') : t('drive.stop.clear')
}

/** Answers a stop: clears it while a button is held, and for an operator resumes then; or asks those who may clear it. */
function ClearStop(props: { session: SessionDetail; onResume: (() => void) | undefined }) {
  const { session, onResume } = props
  const action = useSessionAction(session.id)
  const { stop } = session.control
  if (!stop) return null
  const clear = () => {
    action.mutate('clear_stop')
    onResume?.()
  }
  return (
    <>
      {stop.may_clear ? (
        <HoldButton
          className={styles.button ?? ''}
          data-primary
          data-testid="clear-stop"
          holdMs={CLEAR_MS}
          pageKey="c"
          aria-keyshortcuts="C"
          disabled={action.isPending}
          onHold={clear}
        >
          {onResume ? t('drive.stop.clearAndResume') : t('drive.stop.clearOnly')}
          <KeyHint>{t('drive.stop.hold', { key: 'C' })}</KeyHint>
        </HoldButton>
      ) : (
        <CallButton
          isPrimary
          shortcut="c"
          disabled={action.isPending}
          onClick={() => action.mutate('request_clear_stop')}
        >
          {t('session.clearStop.ask')}
        </CallButton>
      )}
      <ActionProblem error={action.error} />
    </>
  )
}

const ActionProblem = ({ error }: { error: unknown }) =>
  error === null || error === undefined ? null : <span role="alert">{messageOf(error)}</span>

/** Returns the call of a robot that is lost in a session, with what is left until the session ends. */
function lostCall(robot: string, live: LiveSession, isWatching: boolean): Call {
  const until = lostUntil(live.events)
  return {
    id: 'lost',
    shape: 'lost',
    tone: 'blind',
    isUrgent: true,
    title: t('drive.call.lost', { robot }),
    text: (
      <>
        {t('drive.call.lostText')} {until !== undefined && <LostCountdown until={until} />}{' '}
        {isWatching ? '' : t('drive.call.lostNext')}
      </>
    ),
  }
}

// Screen readers read a call when it appears, and not every second of a timer in it.
const LostCountdown = ({ until }: { until: number }) => (
  <span role="timer">
    {t('drive.call.lostUntil', { time: clockText(Math.max(0, until - useNow()) / 1_000) })}
  </span>
)

/** Says for how long a session has been paused. */
const PausedFor = ({ sinceMs }: { sinceMs: number }) => (
  <span role="timer">{t('drive.call.pausedFor', { time: clockText((useNow() - sinceMs) / 1_000) })}</span>
)

interface CallsOptions {
  readonly session: SessionDetail
  readonly live: LiveSession
  readonly robot: RobotView
  readonly stop: StopControl['state']
  readonly episodes: EpisodeMarks
  readonly isWatching: boolean
  readonly link: Call | undefined
  readonly paused: Call | undefined
  readonly onResume: (() => void) | undefined
}

/** Returns the calls that say why the robot does not move, and what else needs an answer, most urgent first. */
export function useCalls(options: CallsOptions): readonly Call[] {
  const { session, live, robot, stop, episodes, isWatching, link, paused, onResume } = options
  const inForce = findLatchedStop(robot.link, robot.drive, live.events)
  const stopped = stopCall({
    request: useStore(stop),
    inForce,
    session,
    meId: useMe().id,
    isWatching,
    acts: inForce && <ClearStop session={session} onResume={onResume} />,
  })
  const isLost = !link && robot.drive?.robot_connected === false
  const calls = [
    stopped,
    isLost ? lostCall(session.robot_name, live, isWatching) : undefined,
    link,
    link || isLost || stopped ? undefined : paused,
    extensionCall(live),
    episodeCall(episodes),
  ]
  return calls.filter((call) => call !== undefined)
}

/** Returns the call of a connection that is missing or has ended; undefined while online. */
export function linkCall({ phase, problem, end }: LinkView, onTakeOver: () => void): Call | undefined {
  if (phase === 'online') return undefined
  if (phase !== 'ended') {
    return {
      id: 'link',
      shape: 'lost',
      tone: 'blind',
      title: phase === 'connecting' ? t('drive.notice.connecting') : t('drive.notice.lost'),
      text: phase === 'offline' ? [t('drive.notice.lostText'), problem].filter(Boolean).join(' ') : problem,
    }
  }
  const isReplaced = end?.closeCode === closeCodes.replaced.code
  return {
    id: 'ended',
    shape: 'request',
    tone: 'paused',
    isUrgent: true,
    title: isReplaced ? t('drive.notice.replaced') : t('drive.notice.ended'),
    text: isReplaced ? t('drive.notice.replacedText') : (closeText(end?.closeCode) ?? end?.reason),
    acts: (
      <CallButton isPrimary shortcut="o" onClick={onTakeOver}>
        {isReplaced ? t('drive.notice.takeControl') : t('drive.notice.reconnect')}
      </CallButton>
    ),
  }
}

/** Returns the call of a paused session that its operator may resume. @param sinceMs when the pause began, if that is known */
export const pausedCall = (actions: DriveActions, sinceMs: number | undefined): Call => ({
  id: 'paused',
  shape: 'paused',
  tone: 'paused',
  title: t('drive.call.paused'),
  text: (
    <>
      {sinceMs !== undefined && <PausedFor sinceMs={sinceMs} />} {t('drive.notice.paused')}{' '}
      <ActionProblem error={actions.error} />
    </>
  ),
  // R also works while a dialog closes, so that it is a key of the cockpit and not of the call.
  acts: (
    <CallButton
      isPrimary
      data-testid="resume"
      disabled={!actions.canResume || actions.isBusy}
      onClick={actions.resume}
      hint="R"
    >
      {t('drive.bar.resume')}
    </CallButton>
  ),
})

/** Returns the call of a paused session whose operator is gone. @param release lets the owner end it now */
export const abandonedCall = ({ ends_at }: SessionDetail, release: ReactNode): Call => ({
  id: 'abandoned',
  shape: 'delayed',
  tone: 'paused',
  testId: 'abandoned',
  title: t('session.abandoned.title'),
  text: ends_at === null ? t('session.abandoned.text') : <Countdown endsAt={ends_at} />,
  acts: release,
})

/** Returns the call of a request to extend the session; undefined without one. */
function extensionCall(live: LiveSession): Call | undefined {
  if (newestExtension(live.events)?.status !== 'pending') return undefined
  return {
    id: 'extension',
    shape: 'request',
    tone: 'request',
    title: t('drive.notice.extension'),
    text: (
      <section aria-label={t('drive.notice.extension')}>
        <ExtensionPanel live={live} />
      </section>
    ),
  }
}

/** Returns the call of a running episode, which its operator ends; undefined without one. */
function episodeCall({ running, mark, isBusy, error, state }: EpisodeMarks): Call | undefined {
  if (!running || !state) return undefined
  return {
    id: 'episode',
    shape: 'live',
    tone: 'off',
    testId: 'episodes',
    title: t('drive.call.episode', { number: state.episodes.length + 1 }),
    text: (
      <>
        <EpisodeClock startedAt={running.started_at} /> · {running.task ?? t('drive.episodes.noTask')}{' '}
        <ActionProblem error={error} />
      </>
    ),
    acts: (
      <>
        <CallButton hint="⌫" disabled={isBusy} onClick={() => mark('discard')}>
          {t('drive.episodes.discard')}
        </CallButton>
        <CallButton hint="N" disabled={isBusy} onClick={() => mark('failure')}>
          {t('drive.episodes.failure')}
        </CallButton>
        <CallButton hint="Y" isPrimary disabled={isBusy} onClick={() => mark('success')}>
          {t('drive.episodes.success')}
        </CallButton>
      </>
    ),
  }
}

const EpisodeClock = ({ startedAt }: { startedAt: string }) => (
  <b>{clockText((useNow() - Date.parse(startedAt)) / 1_000)}</b>
)
