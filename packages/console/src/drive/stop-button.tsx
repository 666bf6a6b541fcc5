import { Shape, StopSign } from '../status/shapes.tsx'
import { t } from '../texts/texts.ts'
import styles from './plates.module.css'

/** `ready`: the robot may move. `requested`: being sent. `stopped`: a stop is in force, and may be sent again. */
export type StopPhase = 'ready' | 'requested' | 'stopped'

interface Props {
  readonly phase: StopPhase
  readonly isWatching: boolean
  readonly onStop: () => void
}

/** Renders the stop. It stays at its place, and can be pressed, in every state. */
export const StopButton = ({ phase, isWatching, onStop }: Props) => (
  <section aria-label={t('drive.stop.label')} style={{ display: 'contents' }}>
    <button
      type="button"
      className={styles.stop}
      data-hud="stop"
      data-testid="stop"
      data-phase={phase}
      title={isWatching ? t('drive.watch.stopHint') : t('drive.stop.buttonHint')}
      onClick={onStop}
    >
      <Face phase={phase} isWatching={isWatching} />
    </button>
  </section>
)

/** Keeps the place of the stop in a layout that has it on another layer. */
export const StopSpace = (props: Pick<Props, 'phase' | 'isWatching'>) => (
  <div className={styles.stop} style={{ visibility: 'hidden' }} aria-hidden="true">
    <Face {...props} />
  </div>
)

const Face = ({ phase, isWatching }: Pick<Props, 'phase' | 'isWatching'>) => (
  <>
    {phase === 'stopped' ? (
      <span style={{ display: 'grid', gridRow: '1 / 3', fontSize: 'calc(var(--u) * 38)' }}>
        <Shape name="stopped" />
      </span>
    ) : (
      <StopSign size="calc(var(--u) * 38)" />
    )}
    <b className={styles.stopWord}>{t(phase === 'stopped' ? 'drive.stop.stopped' : 'drive.stop.button')}</b>
    <span className={styles.stopKeys}>{hintOf(phase, isWatching)}</span>
  </>
)

function hintOf(phase: StopPhase, isWatching: boolean): string {
  if (phase === 'requested') return t('drive.stop.sending')
  if (phase === 'stopped') return t('drive.stop.inForceShort')
  return isWatching ? t('drive.watch.stopKey') : t('drive.stop.keys')
}
