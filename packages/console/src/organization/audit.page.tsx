import { Button, Group, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type AuditVerdict, typeWords as words } from '@wheelhouse/protocol'
import { answerOf } from '@wheelhouse/sdk'
import { useEffect, useRef } from 'react'
import { AuditData, AuditFilters } from '../audit/audit-log.tsx'
import type { AuditSearch } from '../audit/search.ts'
import { CopyableSecret } from '../base/copyable.tsx'
import { MoreButton, RowTable } from '../base/data-table.tsx'
import { LinkAnchor } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Section } from '../base/section.tsx'
import { Empty, Note, Problem, QueryView, Warning } from '../base/states.tsx'
import { Time } from '../base/time.tsx'
import { useMay } from '../platform/organization.ts'
import { usePlatform } from '../platform/platform.ts'
import { usePages } from '../platform/rest.ts'
import { auditProblemTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { MemberSelect } from './members.tsx'
import { useRoutes } from './organization.ts'
import { downloadAndVerify, notedHead } from './verify-audit.ts'

/** Shows the audit log of the organization that the page acts for, and verifies it. */
export function AuditPage() {
  const mayRead = useMay()('audit.read')
  return (
    <Page
      title={t('audit.title')}
      description={t('organization.audit.note')}
      link={['/organization', t('app.pages.organization')]}
    >
      {mayRead ? (
        <>
          <Verification />
          <Log />
        </>
      ) : (
        <Empty title={t('app.roleGate.teamTitle')} />
      )}
    </Page>
  )
}

/** Verifies the chain of the whole log in this browser, and offers the log as files. */
function Verification() {
  const { id } = useRoutes()
  const { rest } = usePlatform()
  const running = useRef(new AbortController())
  useEffect(() => {
    const controller = new AbortController()
    running.current = controller
    return () => controller.abort()
  }, [])
  const check = useMutation({
    mutationFn: async () => {
      // Browsers calculate hashes only on pages that came over HTTPS, or from this machine.
      if (!isSecureContext) throw new Error(t('organization.audit.insecure'))
      const noted = notedHead(id)
      const head = noted.get() || undefined
      const verdict = await downloadAndVerify(rest, { id, head, signal: running.current.signal })
      if (verdict.ok) noted.set(verdict.head)
      return verdict
    },
  })
  const file = (format: 'ndjson' | 'csv') => (
    <Button
      component="a"
      href={`/api/organizations/${id}/audit?format=${format}`}
      download={`audit.${format}`}
      variant="default"
    >
      {t('organization.audit.download', { format: format.toUpperCase() })}
    </Button>
  )
  return (
    <Section title={t('organization.audit.verification')}>
      <Group justify="space-between">
        <Note maw={640}>{t('organization.audit.verificationNote')}</Note>
        <Group gap="xs">
          <Button variant="default" loading={check.isPending} onClick={() => check.mutate()}>
            {t('organization.audit.verify')}
          </Button>
          {file('ndjson')}
          {file('csv')}
        </Group>
      </Group>
      <div role="status">{check.data && <Verdict verdict={check.data} />}</div>
      <Problem error={check.error} />
    </Section>
  )
}

function Verdict({ verdict }: { verdict: AuditVerdict }) {
  if (!verdict.ok) {
    const { seq, line, problem } = verdict
    return (
      <Warning
        color="red"
        title={
          problem === 'head_missing'
            ? t('organization.audit.incomplete')
            : t('organization.audit.broken', { row: seq ?? line })
        }
      >
        {t('organization.audit.problem', { problem: auditProblemTexts[problem] })}
      </Warning>
    )
  }
  const { rows, deleted, head } = verdict
  return (
    <Warning color="green.9" title={t('organization.audit.intact', { count: rows })}>
      <Stack gap="xs">
        {deleted > 0 && <Text size="sm">{t('organization.audit.deleted', { count: deleted })}</Text>}
        <CopyableSecret label={t('organization.audit.head')} value={head} />
        <Note>{t('organization.audit.headNote')}</Note>
      </Stack>
    </Warning>
  )
}

const FIRST_PAGE = { limit: 50 }

function Log() {
  const search = useSearch({ from: '/shell/organization/audit' })
  const navigate = useNavigate({ from: '/organization/audit' })
  const applySearch = (next: AuditSearch) => void navigate({ search: next })
  const { id, key } = useRoutes()
  const { actor, action, since, until } = search
  const query = usePages([...key, 'audit', search], FIRST_PAGE, async (rest, { limit, before }, signal) => {
    const filter = { actor_id: actor, action, from: since, to: until }
    const params = { path: { id }, query: { limit, ...(before && { before: Number(before) }), ...filter } }
    const page = await answerOf(rest.GET('/api/organizations/{id}/audit', { params, signal }))
    return typeof page === 'string' ? [] : page.entries
  })
  return (
    <>
      <AuditFilters search={search} onSearch={applySearch} shown={['action', 'since', 'until']}>
        <MemberSelect
          label={t('audit.actor')}
          value={actor}
          name={query.data?.find(({ actor_id }) => actor_id === actor)?.actor_name ?? undefined}
          onChange={(value) => applySearch({ ...search, actor: value })}
        />
      </AuditFilters>
      <QueryView
        query={query}
        isEmpty={(entries) => entries.length === 0}
        empty={<Empty title={t('audit.noMatch')} />}
      >
        {(entries) => (
          <>
            <RowTable
              label={t('audit.title')}
              minWidth={760}
              verticalSpacing="xs"
              rows={entries}
              rowProps={() => ({ style: { verticalAlign: 'top' } })}
              columns={[
                [
                  { label: t('organization.audit.row'), align: 'right' },
                  ({ seq }) => seq ?? t('organization.audit.notSealed'),
                ],
                [t('audit.time'), ({ at }) => <Time at={at} exact />, { style: { whiteSpace: 'nowrap' } }],
                [
                  t('audit.actor'),
                  ({ actor_id, actor_name, credential }) =>
                    actor_id === null ? (
                      t('audit.platform')
                    ) : (
                      <>
                        <LinkAnchor to="/organization/audit" search={{ ...search, actor: actor_id }}>
                          {actor_name ?? t('audit.unknownUser')}
                        </LinkAnchor>
                        {credential?.startsWith('api_key:') && <Note>{t('organization.audit.byKey')}</Note>}
                      </>
                    ),
                ],
                [
                  t('audit.action'),
                  (entry) => (
                    <LinkAnchor to="/organization/audit" search={{ ...search, action: entry.action }}>
                      {words(entry.action)}
                    </LinkAnchor>
                  ),
                ],
                [
                  t('audit.target'),
                  ({ subject_type, subject_id }) => <span title={subject_id}>{words(subject_type)}</span>,
                ],
                [t('audit.details'), ({ data }) => <AuditData data={data} />],
              ]}
            />
            <MoreButton query={query}>{t('admin.list.older')}</MoreButton>
          </>
        )}
      </QueryView>
    </>
  )
}
