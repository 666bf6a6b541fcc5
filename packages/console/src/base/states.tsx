import {
  Alert,
  type AlertProps,
  Button,
  Center,
  Group,
  Loader,
  Stack,
  Text,
  type TextProps,
} from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import type { ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { messageOf } from './message-of.ts'

export const Loading = ({ label = t('common.loading') }: { label?: string }) => (
  <Center p="xl" role="status" aria-label={label}>
    <Loader />
  </Center>
)

/** Renders what explains something else, in small and pale letters. */
export const Note = ({ children, ...text }: TextProps & { role?: 'status'; children: ReactNode }) => (
  <Text size="sm" c="dimmed" {...text}>
    {children}
  </Text>
)

/** Renders what a user has to know, and often decide, about a thing: a robot on hold, a lost connection. */
export const Warning = (alert: AlertProps & { 'data-testid'?: string }) => (
  <Alert color="orange.9" styles={{ title: { color: 'var(--mantine-color-text)' } }} {...alert} />
)

/** Renders an empty state with an explanation and an action. */
export const Empty = (props: { title: string; children?: ReactNode; action?: ReactNode }) => (
  <Stack align="center" p="xl" gap="xs">
    <Text fw={600}>{props.title}</Text>
    {props.children && (
      <Text c="dimmed" ta="center" maw={480}>
        {props.children}
      </Text>
    )}
    {props.action}
  </Stack>
)

/** Shows an error with an optional retry button. A missing permission has none, because a retry cannot help. */
export function Problem({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  if (!error) return null
  const mayRetry = !(error instanceof ApiError && error.status === 403)
  return (
    <Alert color="red" title={titleOf(error)} role="alert">
      <Group justify="space-between">
        <Text size="sm">{messageOf(error)}</Text>
        {onRetry && mayRetry && (
          <Button variant="default" size="xs" onClick={onRetry}>
            {t('common.tryAgain')}
          </Button>
        )}
      </Group>
    </Alert>
  )
}

function titleOf(error: unknown): string {
  if (!(error instanceof ApiError)) return t('ui.problem.title')
  if (error.status === 0) return t('ui.problem.noConnection')
  if (error.status === 404) return t('ui.problem.notFound')
  if (error.status === 403) return t('ui.problem.notAllowed')
  return error.status >= 500 ? t('ui.problem.server') : t('ui.problem.title')
}

/**
 * Shows the data of a query, or its loading, error or empty state. Loaded data stays visible when a refetch fails,
 * below the error.
 */
export function QueryView<T>(props: {
  query: UseQueryResult<T>
  isEmpty?: (data: T) => boolean
  empty?: ReactNode
  children: (data: T) => ReactNode
}) {
  const { query, isEmpty, empty, children } = props
  if (query.data === undefined) {
    return query.error ? <Problem error={query.error} onRetry={() => void query.refetch()} /> : <Loading />
  }
  return (
    <>
      {query.error && <Problem error={query.error} onRetry={() => void query.refetch()} />}
      {isEmpty?.(query.data) ? empty : children(query.data)}
    </>
  )
}
