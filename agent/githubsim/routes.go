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
		"GET /users/{login}": with((*call).account, (*call).getProfile),
		"GET " + repo:        (*call).getRepo,
		"GET " + repo + "/collaborators/{login}/permission": with((*call).account, (*call).getPermission),

		"POST " + repo + "/issues":           (*call).createIssue,
		"POST " + issue + "/comments":        (*call).createComment,
		"GET " + issue + "/comments":         (*call).listComments,
		"GET " + issue + "/labels":           (*call).renderLabels,
		"PATCH " + comment:                   with((*call).comment, (*call).updateComment),
		"DELETE " + comment:                  with((*call).comment, (*call).deleteComment),
		"POST " + issue + "/labels":          needs((*call).needTriage, (*call).addLabels),
		"DELETE " + issue + "/labels/{name}": needs((*call).needTriage, (*call).removeLabel),

		"POST " + repo + "/check-runs":                  (*call).createCheckRun,
		"GET " + repo + "/check-runs/{run}/annotations": with((*call).checkRun, (*call).getAnnotations),
		"GET " + repo + "/actions/jobs/{run}/logs":      with((*call).checkRun, (*call).getJobLog),
		"POST " + repo + "/statuses/{sha}":              needs((*call).needWrite, (*call).createStatus),
		"GET " + repo + "/commits/{ref...}":             (*call).getCommits,
		"GET " + repo + "/compare/{basehead...}":        (*call).getComparison,
		"GET " + repo + "/git/ref/{ref...}":             (*call).getRef,
		"PATCH " + repo + "/git/refs/{ref...}":          needs((*call).needWrite, (*call).updateRef),
		"DELETE " + repo + "/git/refs/{ref...}":         needs((*call).needWrite, (*call).deleteRef),
		"GET " + repo + "/git/commits/{sha}":            (*call).getGitCommit,
		"GET " + repo + "/contents/{path...}":           (*call).getContents,
		"GET " + repo + "/activity":                     (*call).listActivities,
		"GET " + branch:                                 (*call).getBranch,
		"POST " + branch + "/rename":                    (*call).renameBranch,
		"GET " + repo + "/rules/branches/{branch}":      (*call).branchRules,
		"POST /graphql":                                 (*call).graphQL,
		"/":                                             func(*call) reply { return fail(errNotFound) },
	}
	maps.Copy(routes, pullRoutes(repo+"/pulls"))
	maps.Copy(routes, hookRoutes(repo+"/hooks"))
	maps.Copy(routes, hookRoutes("/orgs/{org}/hooks"))
	maps.Copy(routes, deliveryRoutes("/app/hook"))
	maps.Copy(routes, map[string]endpoint{
		"GET /app":                      needs((*call).asApp, (*call).getApp),
		"GET /app/installations":        needs((*call).asApp, (*call).listInstallations),
		"GET " + repo + "/installation": needs((*call).asApp, (*call).getRepoInstallation),
		"POST /app/installations/{installation}/access_tokens": needs((*call).asApp, (*call).createAccessToken),
		"POST /app-manifests/{code}/conversions":               (*call).convert,
		"GET /app/hook/config":                                 with((*call).hook, (*call).getAppHook),
		"PATCH /app/hook/config":                               with((*call).hook, (*call).updateAppHook),
	})
	mux := http.NewServeMux()
	for pattern, run := range routes {
		mux.Handle(pattern, s.route(run))
	}
	return mux
}

// with serves a route with what the path names.
func with[T any](lookUp func(*call) T, run func(*call, T) reply) endpoint {
	return func(c *call) reply { return run(c, lookUp(c)) }
}

// needs serves a route to the callers whom need does not refuse.
func needs(need func(*call), run endpoint) endpoint {
	return func(c *call) reply {
		need(c)
		return run(c)
	}
}

func hookRoutes(hooks string) map[string]endpoint {
	routes := deliveryRoutes(hooks + "/{hook}")
	maps.Copy(routes, map[string]endpoint{
		"GET " + hooks:                    with((*call).hookSet, (*call).listHooks),
		"POST " + hooks:                   with((*call).hookSet, (*call).createHook),
		"PATCH " + hooks + "/{hook}":      with((*call).hook, (*call).updateHook),
		"POST " + hooks + "/{hook}/pings": with((*call).hook, (*call).pingHook),
	})
	return routes
}

func deliveryRoutes(hook string) map[string]endpoint {
	return map[string]endpoint{
		"GET " + hook + "/deliveries":                      with((*call).hook, (*call).listDeliveries),
		"GET " + hook + "/deliveries/{delivery}":           with((*call).delivery, (*call).getDelivery),
		"POST " + hook + "/deliveries/{delivery}/attempts": with((*call).delivery, (*call).redeliver),
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
		"PUT " + pull + "/merge":                       needs((*call).needWrite, (*call).mergePull),
		"PUT " + pull + "/update-branch":               (*call).updateBranch,
		"POST " + pull + "/requested_reviewers":        needs((*call).needWrite, (*call).requestReviewers),
		"DELETE " + pull + "/requested_reviewers":      needs((*call).needWrite, (*call).unrequestReviewers),

		"GET " + reviews:                          (*call).listReviews,
		"POST " + reviews:                         (*call).createReview,
		"GET " + reviews + "/{review}":            with((*call).review, (*call).getReview),
		"PUT " + reviews + "/{review}":            with((*call).review, (*call).updateReview),
		"GET " + reviews + "/{review}/comments":   with((*call).review, (*call).reviewComments),
		"PUT " + reviews + "/{review}/dismissals": needs((*call).needWrite, with((*call).review, (*call).dismissReview)),
	}
}
