import { describeJob, type JobFile, markOf, type NightJob, pinnedText, scriptPath } from './night-job.ts';

export const launchLabel = (hash: string) => `com.skillopt.sleep.${hash}`;

/**
 * An agent of launchd. A Mac that was asleep starts it when it wakes up; for one that was off it is started at the login too, and
 * the job itself knows whether a night is due.
 */
export function launchdPlist(job: NightJob, folder: string): JobFile {
  const text = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<!-- ${markOf(job.hash)}: ${inComment(describeJob(job))}. Made for: ${inComment(pinnedText(job))}. -->
<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${launchLabel(job.hash)}</string>
  <key>ProgramArguments</key>
  <array>
    <string>/bin/sh</string>
    <string>${xmlText(scriptPath(job))}</string>
  </array>
  <key>StartCalendarInterval</key>
  <dict>
    <key>Hour</key>
    <integer>${job.at.hour}</integer>
    <key>Minute</key>
    <integer>${job.at.minute}</integer>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>ProcessType</key>
  <string>Background</string>
</dict>
</plist>
`;
  return { path: `${folder}/${launchLabel(job.hash)}.plist`, text };
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

export const xmlText = (text: string): string => text.replace(/[&<>"']/g, (sign) => ENTITIES[sign]!);

/** Two dashes would end the comment. */
const inComment = (text: string) => xmlText(text).replace(/-(?=-)|-$/g, '- ');
