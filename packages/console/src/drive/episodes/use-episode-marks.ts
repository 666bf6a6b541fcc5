import { useMutation, useQueryClient } from '@tanstack/react-query'
import { EPISODE_TASK_MAX, type EpisodeAction } from '@wheelhouse/protocol'
import { useEffect, useMemo, useRef } from 'react'
import type { RunningEpisode, SessionEpisodes } from '../../replay/data/api-types.ts'
import { episodesKey, useRecordingsApi, useSessionEpisodes } from '../../replay/use-recordings.ts'
import { createPersisted } from '../../ui/persisted.ts'
import { type Store, useStore } from '../../ui/store.ts'

/** The episodes of a session, and what marks them. */
export interface EpisodeMarks {
  /** Undefined until known, and for a viewer who cannot mark episodes. */
  readonly state: SessionEpisodes | undefined
  readonly running: RunningEpisode | null
  /** The task of the next episode, stored for each robot in this browser. */
  readonly task: string
  readonly setTask: (task: string) => void
  readonly isBusy: boolean
  readonly error: unknown
  /** Starts an episode, or ends the running one. Waits for the state and for the mark before it. Does nothing where that is impossible. */
  readonly mark: (action: EpisodeAction) => void
}

const taskOf = (robotId: string): Store<string> =>
  createPersisted(`wheelhouse-episode-task:${robotId}`, '', (text) => text.slice(0, EPISODE_TASK_MAX))

/** Marks the episodes of an open session. */
export function useEpisodeMarks(sessionId: string, robotId: string): EpisodeMarks {
  const api = useRecordingsApi()
  const queries = useQueryClient()
  const state = useSessionEpisodes(sessionId).data ?? undefined
  const stored = useMemo(() => taskOf(robotId), [robotId])
  const task = useStore(stored)
  /** Whether a mark was sent. A key can follow before the next render. */
  const isUnderWay = useRef(false)
  const change = useMutation({
    mutationFn: (action: EpisodeAction) => {
      const words = task.trim()
      return api.markEpisode(sessionId, {
        action,
        ...(action === 'start' && words !== '' && { task: words }),
      })
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
    state,
    running,
    task,
    setTask: (words) => stored.set(words.slice(0, EPISODE_TASK_MAX)),
    isBusy,
    error: change.error,
    mark,
  }
}
