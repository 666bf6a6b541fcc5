import { Box, Button, Group, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { EPISODE_TASK_MAX, type EpisodeAction } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { useEffect, useId, useMemo, useRef } from 'react'
import { clockText } from '../base/format.ts'
import { messageOf } from '../base/message-of.ts'
import { createPersisted } from '../base/persisted.ts'
import { type Store, useStore } from '../base/store.ts'
import { useNow } from '../base/time.tsx'
import { usePlatform } from '../platform/platform.ts'
import { byId } from '../platform/rest.ts'
import { episodesKey, type SessionEpisodes, useSessionEpisodes } from '../recording/recordings.ts'
import { t } from '../texts/texts.ts'

interface Props {
  readonly marks: Omit<EpisodeMarks, 'state'>
  /** Episodes of the session that have ended. */
  readonly count: number
}

const endButtons: readonly (readonly [EpisodeAction, key: string, text: string])[] = [
  ['success', 'Y', t('drive.episodes.success')],
  ['failure', 'N', t('drive.episodes.failure')],
  ['discard', t('drive.keys.backspace'), t('drive.episodes.discard')],
]

/** Starts and ends episodes: the task, the running episode with its clock, and how many there are. */
export function EpisodePanelView({ marks, count }: Props) {
  const { running, isBusy, error, mark } = marks
  const button = (action: EpisodeAction, key: string, text: string) => (
    <Button
      size="xs"
      variant="default"
      key={action}
      aria-keyshortcuts={key}
      disabled={isBusy}
      onClick={() => mark(action)}
    >
      {text}
    </Button>
  )
  return (
    <Stack component="section" gap={4} aria-label={t('drive.episodes.title')} data-testid="episodes">
      <Group gap={6}>
        {running ? (
          <>
            <Group gap={6} wrap="nowrap" miw={0} maw="22rem" role="status">
              <Box flex="none" w="0.6rem" h="0.6rem" bdrs="50%" bg="var(--accent)" />
              <Clock startedAt={running.started_at} />
              <Text span truncate inherit>
                {running.task ?? t('drive.episodes.noTask')}
              </Text>
            </Group>
            {endButtons.map(([action, key, text]) => button(action, key, text))}
          </>
        ) : (
          <>
            <TaskField marks={marks} />
            {button('start', 'E', t('drive.episodes.start'))}
            <Text span size="sm" style={{ whiteSpace: 'nowrap' }} role="status">
              {t('drive.episodes.count', { count })}
            </Text>
          </>
        )}
      </Group>
      {error && (
        <Text px="xs" py={2} bdrs="sm" c="#fff" bg="var(--stop)" role="alert">
          {messageOf(error)}
        </Text>
      )}
    </Stack>
  )
}

function TaskField({ marks: { task, setTask } }: Pick<Props, 'marks'>) {
  const id = useId()
  return (
    <Group gap={6} wrap="nowrap" flex="1 1 14rem" miw={0}>
      <Text component="label" htmlFor={id} size="sm">
        {t('drive.episodes.task')}
      </Text>
      <TextInput
        id={id}
        flex={1}
        miw="6rem"
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
    </Group>
  )
}

const Clock = ({ startedAt }: { startedAt: string }) => (
  <Text span inherit fw={700} flex="none" miw="2.6rem">
    {clockText((useNow() - Date.parse(startedAt)) / 1_000)}
  </Text>
)

/** Marks the episodes of a session; nothing for a viewer who cannot. */
export const EpisodePanel = ({ marks }: { marks: EpisodeMarks }) =>
  marks.state && <EpisodePanelView marks={marks} count={marks.state.episodes.length} />

export type EpisodeMarks = ReturnType<typeof useEpisodeMarks>

const taskOf = (robotId: string): Store<string> =>
  createPersisted(`wheelhouse-episode-task:${robotId}`, '', (text) => text.slice(0, EPISODE_TASK_MAX))

export function useEpisodeMarks(sessionId: string, robotId: string) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const state = useSessionEpisodes(sessionId).data ?? undefined
  const stored = useMemo(() => taskOf(robotId), [robotId])
  const task = useStore(stored)
  /** Whether a mark was sent. A key can follow before the next render. */
  const isUnderWay = useRef(false)
  const change = useMutation({
    mutationFn: (action: EpisodeAction) => {
      const words = task.trim()
      const body = { action, ...(action === 'start' && words !== '' && { task: words }) }
      return answerOf(rest.POST('/api/sessions/{id}/episodes', { ...byId(sessionId), body }))
    },
    onSuccess: ({ running }) =>
      queries.setQueryData(
        episodesKey(sessionId),
        (old: SessionEpisodes | undefined) => old && { ...old, running },
      ),
    // Not awaited, so that the next key counts at once.
    onSettled: () => {
      isUnderWay.current = false
      void queries.invalidateQueries({ queryKey: episodesKey(sessionId) })
    },
  })
  const running = state?.running ?? null
  const isBusy = change.isPending
  const isReady = state !== undefined && !isBusy
  /** The newest mark that has to wait: a key that follows at once counts too. */
  const waiting = useRef<EpisodeAction>(undefined)
  /** Starts an episode, or ends the running one. Waits for the state and for the mark before it. Does nothing where that is impossible. */
  const mark = (action: EpisodeAction) => {
    if (!isReady || isUnderWay.current) waiting.current = action
    else if ((action === 'start') === (running === null)) {
      isUnderWay.current = true
      change.mutate(action)
    }
  }
  useEffect(() => {
    const action = waiting.current
    if (!isReady || action === undefined) return
    waiting.current = undefined
    mark(action)
  })
  return {
    /** Undefined until known, and for a viewer who cannot mark episodes. */
    state,
    running,
    /** The task of the next episode, stored for each robot in this browser. */
    task,
    setTask: (words: string) => stored.set(words.slice(0, EPISODE_TASK_MAX)),
    isBusy,
    error: change.error,
    mark,
  }
}
