import {
  Button,
  type ButtonProps,
  Checkbox,
  Modal,
  NumberInput,
  Select,
  TagsInput,
  Text,
  TextInput,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useNavigate } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { DialogButtons, Form, useFields } from '../base/form.tsx'
import { Problem } from '../base/states.tsx'
import { t } from '../texts/texts.ts'
import { type NewExport, useStartExport } from './use-datasets.ts'

const MAX_FPS = 120
type Gaps = NonNullable<NewExport['gaps']>
const gapOptions: readonly { readonly value: Gaps; readonly label: string }[] = [
  { value: 'leave_out', label: t('data.export.leaveOut') },
  { value: 'cut', label: t('data.export.cut') },
  { value: 'include', label: t('data.export.include') },
]
type Alignment = NonNullable<NewExport['alignment']>
const alignmentOptions: readonly { readonly value: Alignment; readonly label: string }[] = [
  { value: 'causal', label: t('data.export.causal') },
  { value: 'nearest', label: t('data.export.nearest') },
]

const defaults = {
  fps: 30 as number | string,
  cameras: [] as string[],
  gaps: 'leave_out' as Gaps,
  alignment: 'causal' as Alignment,
  unfinished: false,
}

interface Props extends ButtonProps {
  readonly chosen: Pick<NewExport, 'episode_ids' | 'dataset_ids'>
  readonly about: string | undefined
  readonly children: ReactNode
}

/** Renders a button whose dialog exports episodes as a LeRobot dataset. */
export function ExportButton({ chosen, about, children, ...button }: Props) {
  const [opened, { open, close }] = useDisclosure(false)
  return (
    <>
      <Button {...button} onClick={open}>
        {children}
      </Button>
      <Modal opened={opened} onClose={close} title={t('data.export.title')}>
        {opened && <ExportForm chosen={chosen} about={about} onCancel={close} />}
      </Modal>
    </>
  )
}

/** Returns a name that the address of a dataset can have, such as `ronja-2026-11-20`. */
const nameOf = (about = 'episodes'): string =>
  [
    about
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '') || 'episodes',
    new Date().toISOString().slice(0, 10),
  ].join('-')

function ExportForm({ chosen, about, onCancel }: Pick<Props, 'chosen' | 'about'> & { onCancel: () => void }) {
  const start = useStartExport()
  const navigate = useNavigate()
  const [isChecked, setChecked] = useState(false)
  const { values, field, change, errors } = useFields(
    () => ({ ...defaults, name: nameOf(about) }),
    start.error,
  )
  const [isNamed, hasFps] = [values.name.trim() !== '', Number(values.fps) >= 1]
  const submit = () => {
    setChecked(true)
    if (!isNamed || !hasFps) return
    const { name, fps, cameras, ...options } = values
    const wanted = { ...chosen, ...options, name: name.trim(), fps: Number(fps) }
    start.mutate(cameras.length > 0 ? { ...wanted, cameras } : wanted, {
      onSuccess: () => void navigate({ to: '/datasets/exports' }),
    })
  }
  return (
    <Form onSubmit={submit} noValidate>
      <Text size="sm">{t('data.export.explanation')}</Text>
      <TextInput
        label={t('data.export.name')}
        description={t('data.export.nameNote')}
        required
        data-autofocus
        {...field('name')}
        error={isChecked && !isNamed ? t('data.export.nameMissing') : errors?.name}
      />
      <NumberInput
        label={t('data.export.fps')}
        description={t('data.export.fpsNote')}
        min={1}
        max={MAX_FPS}
        required
        {...field('fps')}
        error={isChecked && !hasFps ? t('data.export.fpsMissing', { most: MAX_FPS }) : errors?.fps}
      />
      <TagsInput
        label={t('data.export.cameras')}
        description={t('data.export.camerasNote')}
        {...field('cameras')}
      />
      <Select<Gaps>
        label={t('data.export.gaps')}
        description={t('data.export.gapsNote')}
        data={gapOptions}
        allowDeselect={false}
        value={values.gaps}
        onChange={(gaps) => gaps && change({ gaps })}
      />
      <Select<Alignment>
        label={t('data.export.alignment')}
        data={alignmentOptions}
        allowDeselect={false}
        value={values.alignment}
        onChange={(alignment) => alignment && change({ alignment })}
      />
      <Checkbox
        label={t('data.export.unfinished')}
        checked={values.unfinished}
        onChange={({ currentTarget: { checked: unfinished } }) => change({ unfinished })}
      />
      {!errors && <Problem error={start.error} />}
      <DialogButtons onCancel={onCancel} loading={start.isPending}>
        {t('data.export.start')}
      </DialogButtons>
    </Form>
  )
}
