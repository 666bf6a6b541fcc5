import { Card, Group, Stack, Text, Title } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { ApiError } from '@wheelhouse/sdk'
import type { ComponentProps, CSSProperties, ReactNode } from 'react'
import { t } from '../texts/texts.ts'
import { Page } from './page.tsx'
import styles from './section.module.css'
import { Empty, QueryView } from './states.tsx'

/** Renders a framed part of a page with a title. */
export const Section = (props: { title: string; id?: string; gap?: 'xs' | 'md'; children: ReactNode }) => (
  <Card component="section" id={props.id} aria-label={props.title} miw={0}>
    <Stack gap={props.gap ?? 'md'}>
      <Title order={2}>{props.title}</Title>
      {props.children}
    </Stack>
  </Card>
)

/** Renders a part of a page whose title stands above its panel. @param props.note what belongs to the title, such as a number */
export const Panel = (props: {
  readonly title: string
  readonly note?: ReactNode
  /** A link to all of it. */
  readonly more?: ReactNode
  /** Whether the content needs no frame, because it has its own. */
  readonly isPlain?: boolean
  readonly children: ReactNode
}) => (
  <section aria-label={props.title} style={{ minWidth: 0, display: 'flex', flexDirection: 'column' }}>
    <Group justify="space-between" gap="xs" mb={10}>
      <Group gap="xs" align="baseline">
        <Title order={2}>{props.title}</Title>
        {props.note !== undefined && (
          <Text size="sm" c="dimmed">
            {props.note}
          </Text>
        )}
      </Group>
      {props.more}
    </Group>
    {props.isPlain ? (
      props.children
    ) : (
      <Card p={0} flex={1}>
        {props.children}
      </Card>
    )}
  </section>
)

/** Renders parts beside each other. @param props.of the tracks of a CSS grid */
export const Columns = ({ of, children }: { of: string; children: ReactNode }) => (
  <div className={styles.columns} style={{ '--columns': of } as CSSProperties}>
    {children}
  </div>
)

/** Renders a list whose items are separated by lines, as the content of a panel. */
export const Lines = ({ className = '', ...list }: ComponentProps<'ul'>) => (
  <ul {...list} className={`${styles.lines} ${className}`} />
)

/** Renders figures, each with its name and what it is made of, as the content of a panel. */
export const Figures = (props: {
  readonly figures: readonly (readonly [label: string, value: ReactNode, note?: ReactNode])[]
}) => (
  <dl className={styles.figures}>
    {props.figures.map(([label, value, note]) => (
      <div key={label}>
        <dt>{label}</dt>
        <dd>
          {value}
          {note !== undefined && <small>{note}</small>}
        </dd>
      </div>
    ))}
  </dl>
)

/**
 * Renders a page about one resource. `children` renders the loaded page. Before that, and when the resource is missing, the
 * title is its kind.
 */
export function ResourcePage<T>(props: {
  query: UseQueryResult<T>
  /** The kind of resource, such as "Robot". */
  kind: string
  /** A link to the list of resources. */
  back: ReactNode
  children: (data: T) => ReactNode
}) {
  const { query, kind, back, children } = props
  if (query.data !== undefined) return <QueryView query={query}>{children}</QueryView>
  const { error } = query
  const isUnknown = error instanceof ApiError && (error.status === 404 || error.status === 400)
  return (
    <Page title={kind}>
      {isUnknown ? (
        <Empty title={t('ui.notFound.resource', { kind })} action={back}>
          {t('ui.notFound.text')}
        </Empty>
      ) : (
        <QueryView query={query}>{() => null}</QueryView>
      )}
    </Page>
  )
}
