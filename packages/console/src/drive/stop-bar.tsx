import type { ReactNode } from 'react'
import { timeOfDay } from '../base/format.ts'
import { messageOf } from '../base/message-of.ts'
import { type Store, useStore } from '../base/store.ts'
import { useMe } from '../platform/platform.ts'
import { StopClearing } from '../session/clear-stop.tsx'
import type { SessionDetail } from '../session/session-query.ts'
import type { StopControl, StopRequestState } from '../stop/stop.ts'
import { reasonText } from '../texts/code-texts.ts'
import { textParts } from '../texts/text-parts.tsx'
import { t } from '../texts/texts.ts'
import type { LatchedStop } from './operator-stop.ts'
import type { Hand } from './preferences.ts'
import styles from './stop-bar.module.css'

interface Props {
  /** The state of the stop that was requested on this page. */
  readonly state: StopControl['state']
  readonly hand: Store<Hand>
  readonly session: SessionDetail
  readonly inForce: LatchedStop | undefined
  /** Whether the viewer watches the session and does not drive. */
  readonly isWatching?: boolean
  readonly onStop: () => void
}

/** Shows the stop button, and across the picture the stop in force: who, when and why. */
export function StopBar({ state, hand, session, inForce, isWatching = false, onStop }: Props) {
  const meId = useMe().id
  const { stop } = session.control
  return (
    <StopBarView
      request={useStore(state)}
      hand={useStore(hand)}
      isWatching={isWatching}
      inForce={
        inForce && {
          actorText: actorText(inForce, session, meId),
          reason: inForce.reason,
          isRecorded: inForce.recorded,
          at: stop?.at,
          mayClear: stop?.may_clear,
        }
      }
      clearing={inForce && stop && <StopClearing session={session} />}
      onStop={onStop}
    />
  )
}

/** Returns who requested a stop: by the user if known, otherwise by the role. */
function actorText({ by, byRole }: LatchedStop, session: SessionDetail, meId: string): string {
  if (by === null) return t('drive.stop.byPlatform')
  if (by === undefined && !byRole) return ''
  const { client_id: ownerId, operator_id: operatorId } = session
  const id = by ?? (byRole === 'client' ? ownerId : byRole === 'operator' ? operatorId : undefined)
  if (id === meId) return t('drive.stop.byYou')
  if (id === ownerId) return t('drive.stop.byOwner')
  return id === operatorId ? t('drive.stop.byOperator') : t('drive.stop.byAdmin')
}

/** The stop in force, as the operator reads it. */
export interface ShownStop {
  /** Such as " by the owner"; empty if unknown. */
  readonly actorText: string
  readonly reason: string
  readonly isRecorded: boolean
  /** In ISO 8601; undefined until the session contains it. */
  readonly at: string | undefined
  /** Whether the operator may clear it; undefined until the session contains it. */
  readonly mayClear: boolean | undefined
}

interface StopBarViewProps {
  /** The state of the stop that was requested on this page. */
  readonly request: StopRequestState
  readonly inForce: ShownStop | undefined
  /** Whether the viewer watches the session and does not drive. */
  readonly isWatching?: boolean
  /** The hand that holds the stick on a phone. */
  readonly hand: Hand
  /** The button that clears the stop, or asks for that. */
  readonly clearing: ReactNode
  readonly onStop: () => void
}

/** Renders the stop button, and across the picture the banner of a stop. */
export function StopBarView({
  request,
  inForce,
  isWatching = false,
  hand,
  clearing,
  onStop,
}: StopBarViewProps) {
  const isShown = inForce !== undefined || request.phase !== 'none'
  return (
    <section className={styles.stopBar} aria-label={t('drive.stop.label')} data-hand={hand}>
      <div
        className={styles.banner}
        role="status"
        aria-live="assertive"
        data-shown={isShown}
        data-testid="stop-banner"
      >
        {inForce ? (
          <StopInForce stop={inForce} isWatching={isWatching} />
        ) : (
          <p className={styles.text}>{requestText(request)}</p>
        )}
        {clearing && <div className={styles.actions}>{clearing}</div>}
      </div>
      <button
        type="button"
        className={styles.stop}
        data-testid="stop"
        title={isWatching ? t('drive.watch.stopHint') : t('drive.stop.buttonHint')}
        onClick={onStop}
      >
        {t('drive.stop.button')}
        <span className={styles.keys}>{isWatching ? t('drive.watch.stopKey') : t('drive.stop.keys')}</span>
      </button>
    </section>
  )
}

const StopInForce = ({
  stop: { actorText, reason, isRecorded, at, mayClear },
  isWatching,
}: {
  stop: ShownStop
  isWatching: boolean
}) => (
  <>
    {/* Another text is another element: one that is centred would move as it grows. */}
    <p className={styles.text} key={`${actorText} ${isRecorded}`}>
      <b>{t('drive.stop.inForce', { actor: actorText })}</b>{' '}
      {isRecorded ? `${reasonText(reason)}.` : t('drive.stop.saving', { reason: reasonText(reason) })}
    </p>
    <p className={styles.next} key={`${at} ${mayClear}`}>
      {at && <time dateTime={at}>{timeOfDay(new Date(at))}</time>} {nextStep(mayClear, isWatching)}
    </p>
  </>
)

function nextStep(mayClear: boolean | undefined, isWatching: boolean): string {
  if (mayClear === undefined) return ''
  if (!mayClear) return t('drive.stop.ownerClears')
  return isWatching ? t('drive.watch.clear') : t('drive.stop.clear')
}

function requestText(request: StopRequestState): ReactNode {
  switch (request.phase) {
    case 'none':
      return null
    case 'requested':
      return textParts('drive.stop.requested', { state: <b>{t('drive.stop.requestedState')}</b> })
    case 'recorded':
      return textParts('drive.stop.recorded', { state: <b>{t('drive.stop.recordedState')}</b> })
    case 'rejected':
      return t('drive.stop.rejected', { error: messageOf(request.error) })
  }
}
