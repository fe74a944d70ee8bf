package main

// kept lists the operations that the simulator serves: a path, then its methods.
const kept = `
/user get
/users/{username} get
/repos/{owner}/{repo} get
/repos/{owner}/{repo}/hooks get post
/repos/{owner}/{repo}/hooks/{hook_id} patch
/repos/{owner}/{repo}/hooks/{hook_id}/pings post
/repos/{owner}/{repo}/hooks/{hook_id}/deliveries get
/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id} get
/repos/{owner}/{repo}/hooks/{hook_id}/deliveries/{delivery_id}/attempts post
/orgs/{org}/hooks get post
/orgs/{org}/hooks/{hook_id} patch
/orgs/{org}/hooks/{hook_id}/pings post
/orgs/{org}/hooks/{hook_id}/deliveries get
/orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id} get
/orgs/{org}/hooks/{hook_id}/deliveries/{delivery_id}/attempts post
/app get
/app/hook/config get patch
/app/hook/deliveries get
/app/hook/deliveries/{delivery_id} get
/app/hook/deliveries/{delivery_id}/attempts post
/app-manifests/{code}/conversions post
/app/installations get
/app/installations/{installation_id}/access_tokens post
/repos/{owner}/{repo}/installation get
/repos/{owner}/{repo}/pulls get post
/repos/{owner}/{repo}/pulls/{pull_number} get patch
/repos/{owner}/{repo}/pulls/{pull_number}/files get
/repos/{owner}/{repo}/pulls/{pull_number}/commits get
/repos/{owner}/{repo}/pulls/{pull_number}/merge put
/repos/{owner}/{repo}/pulls/{pull_number}/update-branch put
/repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers post delete
/repos/{owner}/{repo}/pulls/{pull_number}/comments get
/repos/{owner}/{repo}/pulls/{pull_number}/comments/{comment_id}/replies post
/repos/{owner}/{repo}/pulls/{pull_number}/reviews get post
/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id} get put
/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/comments get
/repos/{owner}/{repo}/pulls/{pull_number}/reviews/{review_id}/dismissals put
/repos/{owner}/{repo}/issues post
/repos/{owner}/{repo}/issues/comments/{comment_id} patch delete
/repos/{owner}/{repo}/issues/{issue_number}/comments get post
/repos/{owner}/{repo}/issues/{issue_number}/labels get post
/repos/{owner}/{repo}/issues/{issue_number}/labels/{name} delete
/repos/{owner}/{repo}/check-runs post
/repos/{owner}/{repo}/check-runs/{check_run_id}/annotations get
/repos/{owner}/{repo}/actions/jobs/{job_id}/logs get
/repos/{owner}/{repo}/commits/{ref}/check-runs get
/repos/{owner}/{repo}/commits/{ref}/status get
/repos/{owner}/{repo}/commits/{ref}/statuses get
/repos/{owner}/{repo}/statuses/{sha} post
/repos/{owner}/{repo}/commits/{ref} get
/repos/{owner}/{repo}/compare/{basehead} get
/repos/{owner}/{repo}/contents/{path} get
/repos/{owner}/{repo}/git/ref/{ref} get
/repos/{owner}/{repo}/git/refs/{ref} patch delete
/repos/{owner}/{repo}/git/commits/{commit_sha} get
/repos/{owner}/{repo}/branches/{branch} get
/repos/{owner}/{repo}/branches/{branch}/rename post
/repos/{owner}/{repo}/rules/branches/{branch} get
/repos/{owner}/{repo}/activity get
/repos/{owner}/{repo}/collaborators/{username}/permission get
`

// keptWebhooks lists the webhooks that the simulator sends.
const keptWebhooks = `
ping push status
check-run-created check-run-completed check-suite-requested check-suite-completed
issue-comment-created issue-comment-edited issue-comment-deleted
pull-request-opened pull-request-synchronize pull-request-closed pull-request-reopened pull-request-edited
pull-request-ready-for-review pull-request-converted-to-draft pull-request-labeled pull-request-unlabeled
pull-request-review-requested pull-request-review-request-removed
pull-request-review-submitted pull-request-review-dismissed pull-request-review-edited pull-request-review-comment-created
pull-request-review-thread-resolved pull-request-review-thread-unresolved pull-request-enqueued pull-request-dequeued
issues-opened
`
