import { Group, NumberInput, Stack, TextInput } from '@mantine/core'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { Form, FormFooter, useFields } from '../base/form.tsx'
import { LinkButton } from '../base/links.tsx'
import { Page } from '../base/page.tsx'
import { Sections } from '../base/sections.tsx'
import { Note } from '../base/states.tsx'
import { actFor, useMay, useOrganizations } from '../platform/organization.ts'
import { useMe } from '../platform/platform.ts'
import { keys } from '../platform/queries.ts'
import { useAction, useWrite } from '../platform/rest.ts'
import { organizationRoleTexts } from '../texts/code-texts.ts'
import { t } from '../texts/texts.ts'
import { DataGrants } from './data-grants.tsx'
import { NameButton } from './fields.tsx'
import { Groups } from './groups.tsx'
import { Invitations, Received } from './invitations.tsx'
import { Members } from './members.tsx'
import { useRoutes } from './organization.ts'
import { ServiceAccounts } from './service-accounts.tsx'
import { SignIn } from './sign-in.tsx'

/** Shows the team that the console acts for, and the invitations to the person. */
export function OrganizationPage() {
  const { acting, isTeam } = useOrganizations()
  const may = useMay()
  const { name, role } = acting
  return (
    <Page
      title={isTeam ? name : t('app.pages.organization')}
      description={
        isTeam
          ? t('organization.page.role', { role: organizationRoleTexts[role] })
          : t('organization.page.personal')
      }
    >
      <Sections
        items={[
          isTeam && { id: 'team', title: t('organization.page.team'), content: <Team key={acting.id} /> },
          isTeam && { id: 'members', title: t('organization.members.title'), content: <Members /> },
          isTeam &&
            may('members.manage') && {
              id: 'invitations',
              title: t('organization.invitations.title'),
              content: <Invitations />,
            },
          isTeam && { id: 'groups', title: t('organization.groups.title'), content: <Groups /> },
          isTeam &&
            may('sign_in.manage') && {
              id: 'sign-in',
              title: t('organization.signIn.title'),
              content: <SignIn key={acting.id} />,
            },
          may('service_accounts.manage') && {
            id: 'service-accounts',
            title: t('organization.serviceAccounts.title'),
            content: <ServiceAccounts />,
          },
          may('grants.manage') && {
            id: 'data-access',
            title: t('organization.grants.title'),
            content: <DataGrants />,
          },
          may('audit.read') && { id: 'audit', title: t('audit.title'), content: <AuditLink /> },
          { id: 'received', title: t('organization.received.title'), content: <Received /> },
          { id: 'own', title: t('organization.own.title'), content: <NewTeam /> },
        ].filter((item) => item !== false)}
      />
    </Page>
  )
}

const AuditLink = () => (
  <Group justify="space-between">
    <Note maw={640}>{t('organization.audit.note')}</Note>
    <LinkButton to="/organization/audit" variant="default">
      {t('organization.audit.open')}
    </LinkButton>
  </Group>
)

interface TeamValues {
  readonly name: string
  /** A field without a number has text. */
  readonly robots_per_supervisor: number | string
}

/** Changes the name and settings of the team, and leaves it. */
function Team() {
  const me = useMe()
  const { acting } = useOrganizations()
  const may = useMay()
  const { id, route } = useRoutes()
  const save = useWrite(
    (rest, { name, robots_per_supervisor }: TeamValues) =>
      rest.PATCH('/api/organizations/{id}', {
        ...route,
        body: { name: name.trim(), robots_per_supervisor: Number(robots_per_supervisor) },
      }),
    { refresh: [keys.organizations] },
  )
  const { values, field, errors } = useFields<TeamValues>(
    { name: acting.name, robots_per_supervisor: acting.robots_per_supervisor },
    save.error,
    () => save.isSuccess && save.reset(),
  )
  const params = { path: { id, user_id: me.id } }
  const leave = useAction((rest) => rest.DELETE('/api/organizations/{id}/members/{user_id}', { params }))
  return (
    <Stack>
      {may('organization.write') && (
        <Form onSubmit={() => save.mutate(values)}>
          <TextInput label={t('organization.name')} maxLength={100} required {...field('name')} />
          <NumberInput
            label={t('organization.robotsPerSupervisor')}
            description={t('organization.robotsPerSupervisorNote')}
            min={1}
            max={64}
            allowDecimal={false}
            required
            {...field('robots_per_supervisor')}
          />
          <FormFooter change={save} explained={errors !== undefined} />
        </Form>
      )}
      <Group justify="space-between">
        <Note maw={640}>{t('organization.leave.note')}</Note>
        <ConfirmButton
          question={t('organization.leave.question', { team: acting.name })}
          consequence={t('organization.leave.note')}
          confirmLabel={t('organization.leave.confirm')}
          onConfirm={async () => {
            await leave()
            actFor(undefined)
          }}
        />
      </Group>
    </Stack>
  )
}

/** Creates a team, which the console then acts for. */
function NewTeam() {
  const create = useWrite((rest, name: string) => rest.POST('/api/organizations', { body: { name } }), {
    onSuccess: ({ id }) => actFor(id),
  })
  return (
    <Group justify="space-between">
      <Note maw={640}>{t('organization.own.note')}</Note>
      <NameButton
        change={create}
        title={t('organization.own.create')}
        note={t('organization.own.nameNote')}
        confirmLabel={t('organization.create')}
      >
        {t('organization.own.create')}
      </NameButton>
    </Group>
  )
}
