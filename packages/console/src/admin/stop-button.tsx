import { Button } from '@mantine/core'
import { IconHandStop } from '@tabler/icons-react'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { keys } from '../api/keys.ts'
import { usePlatform } from '../app/platform.ts'
import { Problem } from '../ui/states.tsx'
import type { OpenSession } from './overview-query.ts'

const RETRIES = 3
const RETRY_MS = 300
/** A connection that hangs must not keep the button from being pressed again. */
const ANSWER_MS = 3_000

/**
 * Stops the robot at once: nothing is asked first, and a press that got no answer is repeated. Also while a stop is
 * in force: who sees the robot move presses again, and it is told again.
 */
export function StopButton({ session }: { session: OpenSession }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const stop = useMutation({
    mutationFn: () =>
      answerOf(
        rest.PATCH('/api/sessions/{id}', {
          params: { path: { id: session.id } },
          body: { action: 'emergency_stop', reason: 'Pressed by an administrator' },
          signal: AbortSignal.timeout(ANSWER_MS),
        }),
      ),
    // Without a network it must say so now, not act when there is one again.
    networkMode: 'always',
    retry: (count, error) => count < RETRIES && !(error instanceof ApiError && isRefusal(error.status)),
    retryDelay: RETRY_MS,
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.sessions }),
  })
  const label = session.stop ? 'Stop again' : 'Stop'
  return (
    <>
      {stop.isPending && stop.failureCount > 0 && <b role="status">No answer yet: trying again</b>}
      {stop.isError && (
        <div>
          <b>Not stopped. The robot may still move.</b>
          <Problem error={stop.error} />
        </div>
      )}
      <Button
        color="red.9"
        size="md"
        fullWidth
        leftSection={<IconHandStop size={20} />}
        loading={stop.isPending}
        onClick={() => stop.mutate()}
        aria-label={`${label}: ${session.robot_name}`}
      >
        {label}
      </Button>
    </>
  )
}

const isRefusal = (status: number) => status >= 400 && status < 500 && status !== 429
