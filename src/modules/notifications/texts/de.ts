import { type PlatformReason, reasonTexts } from '@wheelhouse/protocol'
import {
  type Data,
  daysOf,
  eurosOf,
  type MailTexts,
  minutesOf,
  monthOf,
  percentOf,
  plainName,
  rowsOf,
  utcTime,
} from './text-parts.ts'

const quote = (name: unknown) => `„${plainName(name)}“`
const robot = ({ robot_name }: Data) => quote(robot_name)
const amount = (data: Data) => `${eurosOf(data).toFixed(2).replace('.', ',')} EUR`
const time = (value: unknown) => utcTime(value) ?? 'unbekannter Zeit'
const month = (data: Data) => (monthOf(data) ? ` für ${monthOf(data)}` : '')
const minutes = (data: Data) =>
  minutesOf(data) === 1 ? '1 weitere Minute' : `${minutesOf(data)} weitere Minuten`
const role = (data: Data) => (data.role === 'operator' ? '„Operator“' : '„Kunde“')

const reasons: Readonly<Record<PlatformReason, string>> = {
  requested: 'auf Wunsch',
  emergency_stop: 'Fernstopp',
  robot_lost: 'Verbindung zum Roboter verloren',
  operator_lost: 'Verbindung zum Operator verloren',
  operator_absent: 'Operator nicht rechtzeitig verbunden',
  control_vacant: 'niemand steuert den Roboter',
  control_transferred: 'Wechsel der Steuerung',
  superseded: 'Operator in einer anderen Sitzung mit dem Roboter',
  double_booked: 'andere Sitzung für dieselbe Zeit geplant',
  pause_limit: 'zu lange Pause',
  abandoned: 'Operator nicht zurückgekehrt',
  ended: '',
  cancelled: '',
  robot_removed: 'Roboter entfernt',
  not_started: 'nicht rechtzeitig begonnen',
  deadman: 'kein rechtzeitiger Befehl',
  latency: 'Befehle zu lange unterwegs',
  video_stale: 'Bild eingefroren',
  session_paused: 'Sitzung pausiert',
  session_over: 'Sitzung beendet',
  stop_refused: 'Stopp nicht gespeichert',
  gateway_draining: 'Neustart des Gateways',
  watchdog: 'Roboter ohne rechtzeitigen Befehl',
  invalid_command: 'Befehl vom Roboter nicht angenommen',
  link_lost: 'Verbindung zum Roboter verloren',
}

/** Formats the platform's reason as the end of a sentence. A mail never contains reasons that participants wrote. */
function formatReason({ reason }: Data): string {
  const isCode = typeof reason === 'string' && Object.hasOwn(reasonTexts, reason)
  const why = isCode ? reasons[reason as PlatformReason] : ''
  return why && ` (${why})`
}

const kinds: MailTexts['kinds'] = {
  'session.scheduled': (data) => ({
    subject: `Sitzung mit ${robot(data)} geplant`,
    text: `Eine Sitzung mit dem Roboter ${robot(data)} wurde geplant.`,
  }),
  'session.started': (data) => ({
    subject: `Sitzung mit ${robot(data)} begonnen`,
    text: `Ein Operator hat den Roboter ${robot(data)} übernommen.`,
  }),
  'session.paused': (data) => ({
    subject: `Sitzung mit ${robot(data)} pausiert`,
    text: `Die Sitzung mit dem Roboter ${robot(data)} ist pausiert${formatReason(data)}. Der Roboter steht.`,
  }),
  'session.resumed': (data) => ({
    subject: `Sitzung mit ${robot(data)} fortgesetzt`,
    text: `Die Sitzung mit dem Roboter ${robot(data)} wurde fortgesetzt.`,
  }),
  'session.ended': (data) => ({
    subject: `Sitzung mit ${robot(data)} beendet`,
    text: `Die Sitzung mit dem Roboter ${robot(data)} ist beendet${formatReason(data)}.`,
  }),
  'session.cancelled': (data) => ({
    subject: `Sitzung mit ${robot(data)} abgesagt`,
    text: `Die geplante Sitzung mit dem Roboter ${robot(data)} wurde abgesagt${formatReason(data)}.`,
  }),
  'session.stopped': (data) => ({
    subject: `FERNSTOPP von ${robot(data)}`,
    text: `Für den Roboter ${robot(data)} wurde ein Fernstopp ausgelöst. Der Roboter steht, und die Sitzung ist pausiert, bis der Stopp aufgehoben ist.`,
  }),
  'session.stop_cleared': (data) => ({
    subject: `Fernstopp von ${robot(data)} aufgehoben`,
    text: `Der Fernstopp des Roboters ${robot(data)} wurde aufgehoben. Die Sitzung ist pausiert und kann fortgesetzt werden.`,
  }),
  'session.stop_clear_requested': (data) => ({
    subject: `Bitte heben Sie den Stopp von ${robot(data)} auf`,
    text: `Der Operator bittet Sie, den Fernstopp des Roboters ${robot(data)} aufzuheben. Heben Sie ihn auf, sobald sich der Roboter sicher bewegen kann. Nur Sie oder ein Administrator können das.`,
  }),
  'session.pause_limit_soon': (data) => ({
    subject: `Pausierte Sitzung mit ${robot(data)} endet bald`,
    text: `Die Sitzung mit dem Roboter ${robot(data)} ist seit langer Zeit pausiert. Sie endet um ${time(data.ends_at)}, wenn der Operator sie nicht vorher fortsetzt.`,
  }),
  'session.planned_end_soon': (data) => ({
    subject: `Sitzung mit ${robot(data)} kurz vor dem geplanten Ende`,
    text: `Das geplante Ende der Sitzung mit dem Roboter ${robot(data)} ist um ${time(data.planned_end)}. Sie endet nicht von selbst. Der Kunde kann eine Verlängerung anfragen.`,
  }),
  'session.rated': (data) => ({
    subject: `Ihre Sitzung mit ${robot(data)} wurde bewertet`,
    text: `Der Kunde hat Ihre Sitzung mit dem Roboter ${robot(data)} bewertet.`,
  }),
  'extension.requested': (data) => ({
    subject: `Verlängerung der Sitzung mit ${robot(data)} angefragt`,
    text: `Der Kunde fragt ${minutes(data)} mit dem Roboter ${robot(data)} an. Nehmen Sie die Anfrage an, oder lehnen Sie sie ab.`,
  }),
  'extension.approved': (data) => ({
    subject: `Verlängerung der Sitzung mit ${robot(data)} angenommen`,
    text: `Der Operator hat ${minutes(data)} mit dem Roboter ${robot(data)} angenommen.`,
  }),
  'extension.declined': (data) => ({
    subject: `Verlängerung der Sitzung mit ${robot(data)} abgelehnt`,
    text: `Der Operator hat ${minutes(data)} mit dem Roboter ${robot(data)} abgelehnt.`,
  }),
  'robot.lost': (data) => ({
    subject: `Verbindung zu ${robot(data)} verloren`,
    text: `Die Verbindung zum Roboter ${robot(data)} ging während einer Sitzung verloren. Die Sitzung ist pausiert. Sie endet, wenn sich der Roboter nicht rechtzeitig wieder verbindet.`,
  }),
  'robot.back': (data) => ({
    subject: `Verbindung zu ${robot(data)} wiederhergestellt`,
    text: `Der Roboter ${robot(data)} ist wieder verbunden. Die Sitzung kann fortgesetzt werden.`,
  }),
  'operator.back': (data) => ({
    subject: `Der Operator von ${robot(data)} ist zurück`,
    text: `Der Operator ist wieder mit der Sitzung mit dem Roboter ${robot(data)} verbunden. Die Sitzung ist noch pausiert.`,
  }),
  'control.transferred': (data) => ({
    subject: `Steuerung von ${robot(data)} gewechselt`,
    text: `Die Steuerung des Roboters ${robot(data)} hat gewechselt. Der Roboter hat dafür angehalten.`,
  }),
  'control.requested': (data) => ({
    subject: `Anfrage zur Steuerung von ${robot(data)}`,
    text: `Jemand bietet Ihnen die Steuerung des Roboters ${robot(data)} an oder bittet Sie darum. Öffnen Sie die Sitzung, um zu antworten.`,
  }),
  'recording.paused': (data) => ({
    subject: `Sitzung mit ${robot(data)} wird nicht aufgezeichnet`,
    text: `Die Sitzung mit dem Roboter ${robot(data)} wird im Moment nicht aufgezeichnet. Die Sitzung selbst geht weiter. Die Aufzeichnung setzt von selbst fort, sobald es möglich ist.`,
  }),
  'dataset_export.ready': (data) => ({
    subject: `Ihr Datensatz ${quote(data.name)} ist bereit`,
    text: `Der Export Ihres Datensatzes ${quote(data.name)} ist abgeschlossen. Sie können ihn herunterladen und mit LeRobot öffnen.`,
  }),
  'dataset_export.failed': (data) => ({
    subject: `Ihr Datensatz ${quote(data.name)} konnte nicht exportiert werden`,
    text: `Der Export Ihres Datensatzes ${quote(data.name)} ist fehlgeschlagen. Die Konsole zeigt den Grund.`,
  }),
  'certification.approved': (data) => ({
    subject: `Sie sind für ${quote(data.robot_type)} zertifiziert`,
    text: `Ihre Zertifizierung für Roboter des Typs ${quote(data.robot_type)} wurde erteilt. Sie können sie jetzt steuern.`,
  }),
  'certification.rejected': (data) => ({
    subject: `Zertifizierung für ${quote(data.robot_type)} nicht erteilt`,
    text: `Ihre Zertifizierung für Roboter des Typs ${quote(data.robot_type)} wurde nicht erteilt.`,
  }),
  'certification.revoked': (data) => ({
    subject: `Zertifizierung für ${quote(data.robot_type)} entzogen`,
    text: `Ihre Zertifizierung für Roboter des Typs ${quote(data.robot_type)} wurde entzogen. Offene Sitzungen gehen weiter. Neue Sitzungen mit Robotern, die diese Zertifizierung verlangen, können Sie nicht beginnen.`,
  }),
  'role.removed': (data) => ({
    subject: `Ihre Rolle ${role(data)} wurde entfernt`,
    text: `Ein Administrator hat Ihre Rolle ${role(data)} entfernt.`,
  }),
  'account.suspended': () => ({
    subject: 'Ihr Konto ist gesperrt',
    text: 'Ein Administrator hat Ihr Konto gesperrt. Die Konsole zeigt den Grund. Bis die Sperre endet, können Sie die Plattform nicht nutzen, Ihre Roboter sind nicht verfügbar, und Sie erhalten nur E-Mails über Ihr Konto und über Geld.',
  }),
  'account.restored': () => ({
    subject: 'Ihr Konto ist nicht mehr gesperrt',
    text: 'Ein Administrator hat die Sperre Ihres Kontos beendet. Sie können die Plattform wieder nutzen.',
  }),
  'invoice.issued': (data) => ({
    subject: `Ihre Rechnung${month(data)}`,
    text: `Ihre Rechnung${month(data)} ist verfügbar.`,
  }),
  'invoice.paid': (data) => ({
    subject: `Ihre Rechnung${month(data)} ist bezahlt`,
    text: `Vielen Dank: Ihre Rechnung${month(data)} ist bezahlt.`,
  }),
  'invoice.payment_failed': (data) => ({
    subject: `Ihre Rechnung${month(data)} konnte nicht abgebucht werden`,
    text: `Ihre Rechnung${month(data)} konnte nicht abgebucht werden. Prüfen Sie Ihre Zahlungsarten, oder bezahlen Sie die Rechnung auf ihrer Zahlungsseite.`,
  }),
  'invoice.voided': (data) => ({
    subject: `Ihre Rechnung${month(data)} wurde storniert`,
    text: `Ihre Rechnung${month(data)} wurde storniert. Sie müssen sie nicht bezahlen.`,
  }),
  'payout.paid': (data) => ({
    subject: `Ihre Auszahlung von ${amount(data)} ist unterwegs`,
    text: `${amount(data)} Ihrer Einnahmen wurden auf Ihr Auszahlungskonto überwiesen.`,
  }),
  'payout.failed': (data) => ({
    subject: `Ihre Auszahlung von ${amount(data)} ist fehlgeschlagen`,
    text: `Der Zahlungsdienst hat ${amount(data)} nicht überwiesen. Der Betrag kann wieder ausgezahlt werden.`,
  }),
  'payout.reversed': (data) => ({
    subject: `${amount(data)} einer Auszahlung wurden zurückgebucht`,
    text: `Der Zahlungsdienst hat ${amount(data)} einer Auszahlung zurückgebucht. Der Betrag kann wieder ausgezahlt werden.`,
  }),
  'export.ready': (data) => ({
    subject: 'Ihr Export von Sitzungen ist fertig',
    text: `Ihr Export von ${rowsOf(data)} Sitzungen ist fertig. Laden Sie ihn innerhalb von 24 Stunden herunter.`,
  }),
  'export.failed': () => ({
    subject: 'Ihr Export von Sitzungen ist fehlgeschlagen',
    text: 'Ihr Export von Sitzungen konnte nicht abgeschlossen werden. Seine Seite in der Konsole zeigt den Fehler.',
  }),
  'robot.battery_low': (data) => ({
    subject: `Akku schwach: ${robot(data)}`,
    text: `Der Akku des Roboters ${robot(data)} ist bei ${percentOf(data)} %.`,
  }),
  'api_key.unused': (data) => ({
    subject: `Der API-Schlüssel ${quote(data.name)} wird nicht benutzt`,
    text: `Seit ${daysOf(data)} Tagen hat niemand den API-Schlüssel ${quote(data.name)}${
      data.service_account === undefined ? '' : ` des Dienstkontos ${quote(data.service_account)}`
    } benutzt. Widerrufen Sie ihn, wenn ihn niemand mehr braucht.`,
  }),
  'webhook.disabled': (data) => ({
    subject: `Ihr Webhook an ${quote(data.host)} wurde abgeschaltet`,
    text: `Ihr Webhook an ${quote(data.host)} wurde abgeschaltet, ${
      data.reason === 'gone'
        ? 'weil er mit 410 Gone geantwortet hat'
        : 'weil mehrere Tage lang alle Zustellungen fehlgeschlagen sind'
    }. Er erhält keine Ereignisse, bis Sie ihn wieder einschalten.`,
  }),
}

/** The texts of mails in German. */
export const de: MailTexts = {
  kinds,
  unknown: {
    subject: 'Sie haben eine neue Benachrichtigung',
    text: 'Öffnen Sie Wheelhouse, um sie zu lesen.',
  },
  why: 'Sie erhalten diese E-Mail, weil Sie diese Benachrichtigungen bei Wheelhouse noch nicht gelesen haben.',
  unsubscribe: 'E-Mails über Benachrichtigungen abbestellen',
  others: (count) => `und ${count} weitere`,
  older: (count) => `Und ${count} ältere Benachrichtigungen`,
  openConsole: 'Konsole öffnen',
  openSession: 'Sitzung öffnen',
  openExport: 'Export öffnen',
}
