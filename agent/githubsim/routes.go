package githubsim

import (
	"maps"
	"net/http"
)

// routes lists all routes of the REST interface, under GitHub's paths.
func (s *Sim) routes() *http.ServeMux {
	const (
		repo    = "/repos/{owner}/{repo}"
		issue   = repo + "/issues/{number}"
		comment = repo + "/issues/comments/{comment}"
		branch  = repo + "/branches/{branch}"
	)
	routes := map[string]endpoint{
		"GET /user":          (*call).getUser,
		"GET /users/{login}": (*call).getUserByLogin,
		"GET " + repo:        (*call).getRepo,
		"GET " + repo + "/collaborators/{login}/permission": (*call).getPermission,

		"POST " + repo + "/issues":           (*call).createIssue,
		"POST " + issue + "/comments":        (*call).createComment,
		"GET " + issue + "/comments":         (*call).listComments,
		"GET " + issue + "/labels":           (*call).renderLabels,
		"PATCH " + comment:                   withComment((*call).updateComment),
		"DELETE " + comment:                  withComment((*call).deleteComment),
		"POST " + issue + "/labels":          (*call).addLabels,
		"DELETE " + issue + "/labels/{name}": (*call).removeLabel,

		"POST " + repo + "/check-runs":                  (*call).createCheckRun,
		"GET " + repo + "/check-runs/{run}/annotations": (*call).getAnnotations,
		"GET " + repo + "/actions/jobs/{run}/logs":      (*call).getJobLog,
		"POST " + repo + "/statuses/{sha}":              (*call).createStatus,
		"GET " + repo + "/commits/{ref...}":             (*call).getCommits,
		"GET " + repo + "/compare/{basehead...}":        (*call).getComparison,
		"GET " + repo + "/git/ref/{ref...}":             (*call).getRef,
		"PATCH " + repo + "/git/refs/{ref...}":          (*call).updateRef,
		"DELETE " + repo + "/git/refs/{ref...}":         (*call).deleteRef,
		"GET " + repo + "/git/commits/{sha}":            (*call).getGitCommit,
		"GET " + repo + "/contents/{path...}":           (*call).getContents,
		"GET " + repo + "/activity":                     (*call).listActivities,
		"GET " + branch:                                 (*call).getBranch,
		"POST " + branch + "/rename":                    (*call).renameBranch,
		"GET " + repo + "/rules/branches/{branch}":      (*call).branchRules,
		"POST /graphql":                                 (*call).graphQL,
		"/":                                             func(*call) (reply, error) { return reply{}, errNotFound },
	}
	maps.Copy(routes, pullRoutes(repo+"/pulls"))
	maps.Copy(routes, hookRoutes(repo+"/hooks"))
	maps.Copy(routes, hookRoutes("/orgs/{org}/hooks"))
	maps.Copy(routes, deliveryRoutes("/app/hook"))
	maps.Copy(routes, map[string]endpoint{
		"GET /app":                      (*call).getApp,
		"GET /app/installations":        (*call).listInstallations,
		"GET " + repo + "/installation": (*call).getRepoInstallation,
		"POST /app/installations/{installation}/access_tokens": (*call).createAccessToken,
		"POST /app-manifests/{code}/conversions":               (*call).convert,
		"GET /app/hook/config":                                 withHook((*call).getAppHook),
		"PATCH /app/hook/config":                               withHook((*call).updateAppHook),
	})
	mux := http.NewServeMux()
	for pattern, run := range routes {
		mux.Handle(pattern, s.route(run))
	}
	return mux
}

func hookRoutes(hooks string) map[string]endpoint {
	routes := deliveryRoutes(hooks + "/{hook}")
	maps.Copy(routes, map[string]endpoint{
		"GET " + hooks:                    (*call).listHooks,
		"POST " + hooks:                   (*call).createHook,
		"PATCH " + hooks + "/{hook}":      withHook((*call).updateHook),
		"POST " + hooks + "/{hook}/pings": withHook((*call).pingHook),
	})
	return routes
}

func deliveryRoutes(hook string) map[string]endpoint {
	return map[string]endpoint{
		"GET " + hook + "/deliveries":                      withHook((*call).listDeliveries),
		"GET " + hook + "/deliveries/{delivery}":           withDelivery((*call).getDelivery),
		"POST " + hook + "/deliveries/{delivery}/attempts": withDelivery((*call).redeliver),
	}
}

func pullRoutes(pulls string) map[string]endpoint {
	pull := pulls + "/{number}"
	reviews := pull + "/reviews"
	return map[string]endpoint{
		"GET " + pulls:              (*call).listPulls,
		"POST " + pulls:             (*call).createPull,
		"GET " + pull:               (*call).getPull,
		"PATCH " + pull:             (*call).updatePull,
		"GET " + pull + "/files":    (*call).pullFiles,
		"GET " + pull + "/commits":  (*call).pullCommits,
		"GET " + pull + "/comments": (*call).pullComments,
		"POST " + pull + "/comments/{comment}/replies": (*call).createReply,
		"PUT " + pull + "/merge":                       (*call).mergePull,
		"PUT " + pull + "/update-branch":               (*call).updateBranch,
		"POST " + pull + "/requested_reviewers":        (*call).requestReviewers,
		"DELETE " + pull + "/requested_reviewers":      (*call).unrequestReviewers,

		"GET " + reviews:                          (*call).listReviews,
		"POST " + reviews:                         (*call).createReview,
		"GET " + reviews + "/{review}":            withReview((*call).getReview),
		"PUT " + reviews + "/{review}":            withReview((*call).updateReview),
		"GET " + reviews + "/{review}/comments":   withReview((*call).reviewComments),
		"PUT " + reviews + "/{review}/dismissals": withReview((*call).dismissReview),
	}
}
