import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ApiError, answerOf } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { stopReasons } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { IconHandStop } from '../ui/icons.tsx'
import { Problem } from '../ui/states.tsx'
import type { OpenSession } from './overview-query.ts'

const RETRIES = 3
const RETRY_MS = 300
/** A hanging connection must not block the button. */
const REQUEST_TIMEOUT_MS = 3_000

/**
 * Stops the robot without a confirmation and retries unanswered requests. Stays enabled while a stop is in force, so
 * that an admin who sees the robot move can send the stop again.
 */
export function StopButton({ session }: { session: OpenSession }) {
  const { rest } = usePlatform()
  const queries = useQueryClient()
  const stop = useMutation({
    mutationFn: () =>
      answerOf(
        rest.PATCH('/api/sessions/{id}', {
          params: { path: { id: session.id } },
          body: { action: 'emergency_stop', reason: stopReasons.admin },
          signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
        }),
      ),
    // Without a network the request must fail now and not run later.
    networkMode: 'always',
    retry: (count, error) => count < RETRIES && !(error instanceof ApiError && isRejection(error.status)),
    retryDelay: RETRY_MS,
    onSuccess: () => void queries.invalidateQueries({ queryKey: keys.sessions }),
  })
  return (
    <>
      {stop.isPending && stop.failureCount > 0 && <b role="status">{t('admin.stop.retrying')}</b>}
      {stop.isError && (
        <div>
          <b>{t('admin.stop.failed')}</b>
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
        aria-label={t(session.stop ? 'admin.stop.againLabel' : 'admin.stop.label', {
          robot: session.robot_name,
        })}
      >
        {t(session.stop ? 'admin.stop.again' : 'admin.stop.button')}
      </Button>
    </>
  )
}

const isRejection = (status: number) => status >= 400 && status < 500 && status !== 429
