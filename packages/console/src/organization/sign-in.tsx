import { Group, NumberInput, PasswordInput, Stack, Switch, TextInput } from '@mantine/core'
import type { Schemas } from '@wheelhouse/sdk'
import { ConfirmButton } from '../base/confirm-button.tsx'
import { CopyableSecret } from '../base/copyable.tsx'
import { Form, FormFooter, useFields } from '../base/form.tsx'
import { Note, QueryView } from '../base/states.tsx'
import { useAction, useRead, useWrite } from '../platform/rest.ts'
import { t } from '../texts/texts.ts'
import { useRoutes } from './organization.ts'
import { Domains, RoleMappings, ScimTokens } from './provisioning.tsx'

type OrganizationSignIn = Schemas['OrganizationSignIn']

/** Shows how members of the team sign in with its own identity provider, and how that provider manages them. */
export function SignIn() {
  const { key, route } = useRoutes()
  const query = useRead([...key, 'sign-in'], (rest) => rest.GET('/api/organizations/{id}/sign-in', route))
  return (
    <Stack gap="xl">
      <Note maw={640}>{t('organization.signIn.note')}</Note>
      <Domains />
      <QueryView query={query}>{(signIn) => <Provider signIn={signIn} />}</QueryView>
      <RoleMappings />
      <ScimTokens />
    </Stack>
  )
}

/** The fields of the provider. */
function Provider({ signIn }: { signIn: OrganizationSignIn }) {
  const { callback_url, sign_in_url, settings } = signIn
  const { key, route } = useRoutes()
  const stores = [...key, 'sign-in']
  const initial = {
    issuer: settings?.issuer ?? '',
    client_id: settings?.client_id ?? '',
    client_secret: '',
    scopes: (settings?.scopes ?? ['openid', 'email', 'profile']).join(' '),
    groups_claim: settings?.groups_claim ?? 'groups',
    creates_members: settings?.creates_members ?? true,
    enforced: settings?.enforced ?? false,
    session_hours: settings?.session_hours ?? 12,
  }
  const save = useWrite(
    (rest, { scopes, client_secret, ...input }: typeof initial) =>
      rest.PUT('/api/organizations/{id}/sign-in', {
        ...route,
        body: {
          ...input,
          scopes: scopes.split(/\s+/).filter(Boolean),
          ...(client_secret !== '' && { client_secret }),
        },
      }),
    { stores },
  )
  const turnOff = useAction((rest) => rest.DELETE('/api/organizations/{id}/sign-in', route), stores)
  const { values, change, field, errors } = useFields(
    initial,
    save.error,
    () => save.isSuccess && save.reset(),
  )
  const isUsed = settings !== null && settings.owner_signed_in_at !== null
  return (
    <Stack>
      <CopyableSecret label={t('organization.signIn.callback')} value={callback_url} />
      <Form onSubmit={() => save.mutate(values)}>
        <TextInput
          label={t('organization.signIn.issuer')}
          description={t('organization.signIn.issuerNote')}
          type="url"
          maxLength={2000}
          required
          {...field('issuer')}
        />
        <TextInput
          label={t('organization.signIn.clientId')}
          maxLength={255}
          required
          {...field('client_id')}
        />
        <PasswordInput
          label={t('organization.signIn.clientSecret')}
          description={settings ? t('organization.signIn.clientSecretNote') : undefined}
          maxLength={2000}
          autoComplete="off"
          required={settings === null}
          visibilityToggleFocusable
          visibilityToggleButtonProps={{ 'aria-label': t('organization.signIn.showSecret') }}
          {...field('client_secret')}
        />
        <Group grow align="flex-start">
          <TextInput label={t('organization.signIn.scopes')} required {...field('scopes')} />
          <TextInput
            label={t('organization.signIn.groupsClaim')}
            maxLength={255}
            required
            {...field('groups_claim')}
          />
          <NumberInput
            label={t('organization.signIn.sessionHours')}
            min={1}
            max={720}
            allowDecimal={false}
            required
            value={values.session_hours}
            error={errors?.session_hours}
            onChange={(hours) => change({ session_hours: Number(hours) })}
          />
        </Group>
        <Switch
          label={t('organization.signIn.createsMembers')}
          checked={values.creates_members}
          onChange={(event) => change({ creates_members: event.currentTarget.checked })}
        />
        <Switch
          label={t('organization.signIn.enforced')}
          description={t(isUsed ? 'organization.signIn.enforcedNote' : 'organization.signIn.notUsed')}
          checked={values.enforced}
          disabled={!isUsed && !values.enforced}
          onChange={(event) => change({ enforced: event.currentTarget.checked })}
        />
        <FormFooter change={save} explained={errors !== undefined} />
      </Form>
      {settings && (
        <>
          <CopyableSecret label={t('organization.signIn.address')} value={sign_in_url} />
          <Group justify="flex-end">
            <ConfirmButton
              question={t('organization.signIn.offQuestion')}
              consequence={t('organization.signIn.offConsequence')}
              confirmLabel={t('organization.signIn.off')}
              onConfirm={() => turnOff()}
            />
          </Group>
        </>
      )}
    </Stack>
  )
}
