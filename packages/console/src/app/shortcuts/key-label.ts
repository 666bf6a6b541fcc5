import { t } from '../../texts/texts.ts'

const isApple = /Mac|iPhone|iPad/.test(navigator.platform)

/** Returns a key of a shortcut as keyboards name it, such as `Ctrl K` or `⌘ K`. */
export const keyLabel = (key: string): string =>
  key.startsWith('mod+') ? `${isApple ? '⌘' : t('app.shortcuts.ctrl')} ${key.slice(4).toUpperCase()}` : key
