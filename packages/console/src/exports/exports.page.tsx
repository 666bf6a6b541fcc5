import { Alert, Stack, Text, VisuallyHidden } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef } from 'react'
import { t } from '../texts/texts.ts'
import { LinkButton } from '../ui/links.tsx'
import { Page } from '../ui/page.tsx'
import { Empty, QueryView } from '../ui/states.tsx'
import { ExportRow } from './export-row.tsx'
import { announcementOf } from './export-texts.ts'
import { isUnfinished, type StoredExport, useExports } from './use-exports.ts'

/** Lists the user's exports of sessions with their progress. */
export function ExportsPage() {
  const query = useExports()
  const { export: wanted } = useSearch({ from: '/shell/exports' })
  const navigate = useNavigate({ from: '/exports' })
  const missing = wanted !== undefined && query.data?.every(({ id }) => id !== wanted)
  const removed = (id: string) => {
    if (id === wanted) void navigate({ search: {}, replace: true })
  }
  return (
    <Page
      title={t('exports.page.title')}
      description={t('exports.page.description')}
      actions={
        <LinkButton to="/sessions" variant="default">
          {t('exports.page.sessions')}
        </LinkButton>
      }
    >
      {missing && (
        <Alert variant="outline" color="gray" title={t('exports.page.missingTitle')}>
          <Text size="sm">{t('exports.page.missingText')}</Text>
        </Alert>
      )}
      <Announcements exports={query.data ?? []} />
      <QueryView
        query={query}
        isEmpty={(exports) => exports.length === 0}
        empty={<Empty title={t('exports.page.emptyTitle')}>{t('exports.page.emptyText')}</Empty>}
      >
        {(exports) => (
          <Stack component="ul" gap="xs" p={0} m={0} aria-label={t('exports.page.label')}>
            {exports.map((stored) => (
              <ExportRow
                key={stored.id}
                stored={stored}
                selected={stored.id === wanted}
                onRemoved={() => removed(stored.id)}
              />
            ))}
          </Stack>
        )}
      </QueryView>
    </Page>
  )
}

/** Announces the exports that have run while the page was open. The text changes in steps, not with every poll. */
function Announcements({ exports }: { exports: readonly StoredExport[] }) {
  const followed = useRef(new Set<string>())
  for (const stored of exports) if (isUnfinished(stored)) followed.current.add(stored.id)
  return (
    <VisuallyHidden role="status">
      {exports
        .filter(({ id }) => followed.current.has(id))
        .map(announcementOf)
        .join(' ')}
    </VisuallyHidden>
  )
}
