import { Button, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { answerOf, type Schemas } from '@wheelhouse/sdk'
import { usePlatform } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { t } from '../texts/texts.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { messageOf } from '../ui/message-of.ts'

type Job = Schemas['Job']

/** Returns the function that reads jobs and queues again. */
function useRefresh() {
  const queries = useQueryClient()
  return () => queries.invalidateQueries({ queryKey: keys.jobs })
}

/** Renders the button that runs a job now. */
export function RetryJob({ job: { id, queue } }: { job: Job }) {
  const { rest } = usePlatform()
  const refresh = useRefresh()
  const retry = useMutation({
    mutationFn: () => answerOf(rest.POST('/api/admin/jobs/{id}/retry', { params: { path: { id } } })),
    onSettled: refresh,
  })
  return (
    <div>
      <Button
        size="xs"
        variant="default"
        loading={retry.isPending}
        onClick={() => retry.mutate()}
        aria-label={t('admin.job.retryLabel', { queue })}
      >
        {t('common.retry')}
      </Button>
      {retry.error && (
        <Text size="xs" role="alert" c="var(--mantine-color-error)">
          {messageOf(retry.error)}
        </Text>
      )}
    </div>
  )
}

/** Renders the button that removes a job, after a confirmation. */
export function DiscardJob({ job: { id, queue, state } }: { job: Job }) {
  const { rest } = usePlatform()
  const refresh = useRefresh()
  const discard = async () => {
    await answerOf(rest.POST('/api/admin/jobs/{id}/discard', { params: { path: { id } } }))
    await refresh()
  }
  return (
    <ConfirmButton
      size="xs"
      variant="default"
      question={t('admin.job.discardQuestion', { queue })}
      consequence={t(state === 'running' ? 'admin.job.discardRunning' : 'admin.job.discardConsequence')}
      confirmLabel={t('admin.job.discard')}
      onConfirm={discard}
      aria-label={t('admin.job.discardLabel', { queue })}
    >
      {t('admin.job.discard')}
    </ConfirmButton>
  )
}
