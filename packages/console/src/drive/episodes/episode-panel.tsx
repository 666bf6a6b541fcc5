import { Button } from '@mantine/core'
import type { EpisodeAction } from '@wheelhouse/protocol'
import { type ReactNode, useId } from 'react'
import { t } from '../../texts/texts.ts'
import { clockText } from '../../ui/format.ts'
import { HudButton } from '../../ui/hud-button.tsx'
import { messageOf } from '../../ui/message-of.ts'
import { useNow } from '../../ui/time.tsx'
import styles from './episode-panel.module.css'
import type { EpisodeMarks } from './use-episode-marks.ts'

interface Props {
  readonly marks: Omit<EpisodeMarks, 'state'>
  /** Episodes of the session that have ended. */
  readonly count: number
  /** Whether it lies on the picture. */
  readonly isOnPicture?: boolean
}

interface EndButton {
  readonly action: EpisodeAction
  readonly key: string
  readonly text: string
}

const endButtons: readonly EndButton[] = [
  { action: 'success', key: 'Y', text: t('drive.episodes.success') },
  { action: 'failure', key: 'N', text: t('drive.episodes.failure') },
  { action: 'discard', key: t('drive.keys.backspace'), text: t('drive.episodes.discard') },
]

/** Starts and ends episodes: the task, the running episode with its clock, and how many there are. */
export function EpisodePanelView({ marks, count, isOnPicture = false }: Props) {
  const { running, isBusy, error, mark } = marks
  const button = { isOnPicture, disabled: isBusy }
  return (
    <section
      className={isOnPicture ? styles.onPicture : styles.panel}
      aria-label={t('drive.episodes.title')}
      data-testid="episodes"
    >
      {running ? (
        <Row>
          <span className={styles.running} role="status">
            <span className={styles.dot} />
            <Clock startedAt={running.started_at} />
            <span className={styles.task}>{running.task ?? t('drive.episodes.noTask')}</span>
          </span>
          {endButtons.map(({ action, key, text }) => (
            <PanelButton key={action} hint={key} {...button} onClick={() => mark(action)}>
              {text}
            </PanelButton>
          ))}
        </Row>
      ) : (
        <Row>
          <TaskField marks={marks} />
          <PanelButton hint="E" {...button} onClick={() => mark('start')}>
            {t('drive.episodes.start')}
          </PanelButton>
          <span className={styles.count} role="status">
            {t('drive.episodes.count', { count })}
          </span>
        </Row>
      )}
      {error !== null && error !== undefined && (
        <p className={styles.problem} role="alert">
          {messageOf(error)}
        </p>
      )}
    </section>
  )
}

/** Renders a button of the cockpit with its key, or of a page, where no key does the same. */
const PanelButton = (props: {
  hint: string
  isOnPicture: boolean
  disabled: boolean
  onClick: () => void
  children: ReactNode
}) => {
  const { isOnPicture, hint, ...button } = props
  return isOnPicture ? (
    <HudButton hint={hint} {...button} />
  ) : (
    <Button size="xs" variant="default" {...button} />
  )
}

const Row = ({ children }: { children: ReactNode }) => <div className={styles.row}>{children}</div>

function TaskField({ marks: { task, setTask } }: Pick<Props, 'marks'>) {
  const id = useId()
  return (
    <span className={styles.field}>
      <label htmlFor={id}>{t('drive.episodes.task')}</label>
      <input
        id={id}
        value={task}
        placeholder={t('drive.episodes.taskExample')}
        onChange={({ currentTarget: { value } }) => setTask(value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter') return
          // The next key is no text: E starts the episode. Enter does not open the chat.
          event.preventDefault()
          event.currentTarget.blur()
        }}
      />
    </span>
  )
}

const Clock = ({ startedAt }: { startedAt: string }) => (
  <b className={styles.clock}>{clockText((useNow() - Date.parse(startedAt)) / 1_000)}</b>
)

/** Marks the episodes of a session; nothing for a viewer who cannot. */
export const EpisodePanel = ({ marks, isOnPicture }: { marks: EpisodeMarks; isOnPicture?: boolean }) =>
  marks.state && (
    <EpisodePanelView marks={marks} count={marks.state.episodes.length} isOnPicture={isOnPicture} />
  )
